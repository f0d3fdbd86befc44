package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.engine.cell.ActorInternals;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Diagnosis;
import io.fibry.engine.message.RequestFuture;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Job;
import io.fibry.testing.LeakProbe;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import io.fibry.time.ManualScheduler;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests the text of the exception that an asker gets when the limit of its request expires. The
 * text omits stack frames of the engine's packages, so this test is in another package.
 */
class DiagnosisTest {
  private static final Duration LIMIT = Duration.ofSeconds(5);

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = Variants.scope(o -> o.withScheduler(clock));
  private final ActorBuilder<Object> builder = scope.named("x").onFailure(FailurePolicy.resume().withoutLog());

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  private static void blockAtGate(Gate gate) throws InterruptedException {
    gate.pass();
  }

  /** Occupies the actor with a job of this name, which waits at the returned gate. */
  private static Gate occupy(Actor<Object> actor, String name) {
    var gate = new Gate();
    Patience.startFiber(() -> actor.sendMessage(Job.act(name, () -> blockAtGate(gate))));
    Patience.await(gate.entered);
    Patience.awaitParked(ActorInternals.thread(actor));
    return gate;
  }

  /**
   * Asks on a new fiber, and returns when the fiber waits. The returned future completes with the
   * exception of the time-out.
   */
  private CompletableFuture<AskTimeoutException> startAsk(ActorWithReturn<Object, Object> actor, Object message) {
    var failure = new CompletableFuture<AskTimeoutException>();
    Patience.awaitParked(Patience.startFiber(() -> {
      try {
        actor.ask(message, LIMIT);
      } catch (AskTimeoutException timeout) {
        failure.complete(timeout);
      }
    }));
    return failure;
  }

  private AskTimeoutException expire(CompletableFuture<AskTimeoutException> failure) {
    clock.advance(LIMIT);
    return Patience.value(failure);
  }

  private static void assertSays(AskTimeoutException timeout, String... texts) {
    for (String text : texts)
      assertTrue(timeout.getMessage().contains(text), () -> "'" + text + "' is not in: " + timeout.getMessage());
  }

  @Promise("4.17")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#strategiesAlone")
  void timeoutTextShowsCurrentMessageDurationAndStack(Variants.Variant variant) {
    var actor = Job.worker(variant.named(scope, "x"));
    occupy(actor, "Slow[1]");

    var timeout = expire(startAsk(actor, "Get"));

    assertSays(timeout,
        "actor 'x' did not answer \"Get\" within 5 s: its handler had not begun, and will not begin: it was "
            + "number 1 in the queue; the actor has been handling Slow[1] for at least 5 s",
        "give ask a longer limit",
        ". The handler is at java.base/java.util.concurrent.CountDownLatch.await(",
        ") < io.fibry.testing.Gate.pass(Gate.java:", ") < io.fibry.DiagnosisTest.blockAtGate(DiagnosisTest.java:");
    assertEquals(1, timeout.getMessage().lines().count(), timeout.getMessage());
  }

  @Promise("4.17")
  @Test
  void timeoutTextShowsQueuePosition() {
    var actor = Job.worker(builder);
    occupy(actor, "Slow[1]");
    for (int i = 0; i < 5; i++) actor.sendMessage(i);
    actor.sendMessageReturn((Object) "cancelled").cancel(true);

    assertSays(expire(startAsk(actor, "Get")), "it was number 6 in the queue");
  }

  @Promise("4.17")
  @Test
  void timeoutTextShowsQueuePositionInBoundedMailbox() {
    var actor = Job.worker(builder.mailbox(Mailbox.bounded(100, Overflow.BLOCK)));
    occupy(actor, "Slow[1]");
    for (int i = 0; i < 5; i++) actor.sendMessage(i);

    assertSays(expire(startAsk(actor, "Get")), "it was number 6 in the queue");
  }

  @Promise("4.17")
  @Test
  void timeoutTextCountsAtMostThousandEarlierMessages() {
    var actor = Job.worker(builder);
    occupy(actor, "Slow[1]");
    for (int i = 0; i < 1000; i++) actor.sendMessage(i);

    assertSays(expire(startAsk(actor, "Get")),
        "will not begin: at least 1,000 messages were before it; the actor has been");
  }

  @Test
  void timeoutTextsOfTwoRequestsShowQueuePositions() {
    var actor = Job.worker(builder);
    occupy(actor, "Slow[1]");
    var firstTimeout = startAsk(actor, "first");
    clock.advance(Duration.ofMillis(50));
    var secondTimeout = startAsk(actor, "second");

    clock.advance(LIMIT);

    assertSays(Patience.value(firstTimeout), "it was number 1 in the queue");
    assertSays(Patience.value(secondTimeout), "it was number ");
  }

  @Promise("4.17")
  @Test
  void timeoutTextShowsThatHandlingHadBegun() {
    var actor = Job.worker(builder);
    var gate = new Gate();

    var failure = startAsk(actor, Job.act("Slow[1]", () -> blockAtGate(gate)));
    Patience.await(gate.entered);

    assertSays(expire(failure), "its handler had begun, and may still run; the actor ", " handling Slow[1]",
        "DiagnosisTest.blockAtGate(");
  }

  @Promise("4.17")
  @Test
  void timeoutTextSaysThatHandlerPromisedAnswer() {
    var answerPromised = new CountDownLatch(1);
    var actor = builder.newActor((Object m, ActorContext<Object> context) -> {
      context.replyWhen((Call) m, new CompletableFuture<>());
      answerPromised.countDown();
    });
    var failure = new CompletableFuture<AskTimeoutException>();
    Patience.startFiber(() -> {
      try {
        actor.ask(new Call(), LIMIT);
      } catch (AskTimeoutException timeout) {
        failure.complete(timeout);
      }
    });

    Patience.await(answerPromised);

    Patience.eventually(() -> {
      clock.advance(LIMIT);
      return failure.isDone();
    });

    assertSays(failure.join(), "its handler promised the answer for later");
    assertNull(failure.join().getCause());
  }

  record Call() implements Request<Call, String> {}

  @Promise("4.17")
  @Test
  void timeoutTextShowsActorThatHandlerWaitsFor() {
    var actor = Job.worker(builder);
    var awaitedActor = Job.worker(scope.named("y"));
    occupy(awaitedActor, "Slow[2]");
    actor.sendMessage(Job.act("Slow[1]", () -> awaitedActor.ask("Inner[7]", Duration.ofDays(1))));
    Job.awaitWaits(actor);

    assertSays(expire(startAsk(actor, "Get")),
        "the actor has been handling Slow[1] for at least 5 s, where it waits for 'y' (\"Inner[7]\")",
        ". The handler is at io.fibry.DiagnosisTest.lambda$timeoutTextShows");
  }

  @Promise("4.17")
  @Test
  void timeoutTextShowsWaitForMailboxCapacity() {
    var actor = Job.worker(builder.mailbox(Mailbox.bounded(1, Overflow.BLOCK)));
    occupy(actor, "Slow[1]");
    actor.sendMessage("fits");

    assertSays(expire(startAsk(actor, "Get")),
        "its handler had not begun, and will not begin: it waited for capacity in the mailbox, whose capacity is 1; "
            + "the actor is handling Slow[1]");
  }

  @Promise("4.17")
  @Test
  void timeoutTextSaysThatActorHasNoThread() {
    var actor = Job.worker(builder.strategy(Strategy.of(new IdleExecutor())));

    assertSays(expire(startAsk(actor, "Get")),
        "it was number 1 in the queue; the actor has been given no thread yet by Strategy.of(a lazy pool)");
  }

  private static final class IdleExecutor implements Executor {
    @Override
    public void execute(Runnable task) {}

    @Override
    public String toString() {
      return "a lazy pool";
    }
  }

  @Promise("4.17")
  @Test
  void timeoutTextSaysThatRequestWasStashed() {
    var actor =
        builder.mailbox(Mailbox.unbounded().selective())
            .newActorWithReturn((Object m, ActorContext<Object> context) -> {
              if (m instanceof Gate gate) blockAtGate(gate);
              else context.stash();
              return m;
            });
    var failure = startAsk(actor, "Get");
    Gate.occupy(actor);

    assertSays(expire(failure), "its handler had not begun, and will not begin: it was stashed; the actor is handling");
  }

  @Promise("4.17")
  @Test
  void timeoutTextSaysThatActorIsSuspended() {
    var actor =
        builder.onFailure(FailurePolicy.restart().withBackoff(Duration.ofHours(1), Duration.ofHours(1)).withoutLog())
            .newActorWithReturn((Object m) -> {
              throw new IllegalStateException("planned");
            });
    actor.sendMessage("fails");
    Patience.eventually(() -> ActorInternals.isSuspended(actor));

    assertSays(expire(startAsk(actor, "Get")),
        "its handler had not begun, and will not begin; the actor is suspended after a failure");
  }

  @Promise("4.17")
  @Test
  void requestsThatTimeOutTogetherShareStackSnapshots() {
    var actor = Job.worker(builder);
    occupy(actor, "Slow[1]");
    var failures = new ArrayList<CompletableFuture<AskTimeoutException>>();
    for (int i = 0; i < 50; i++) failures.add(startAsk(actor, i));
    long startNanos = System.nanoTime();

    clock.advance(LIMIT);

    var stacks = Collections.newSetFromMap(new IdentityHashMap<Object, Boolean>());
    for (var failure : failures) stacks.add(Patience.value(failure).getCause());
    assertFewSnapshots(stacks, startNanos);
    assertFalse(stacks.contains(expire(startAsk(actor, "later")).getCause()));
  }

  /** Asserts that the requests caused at most one snapshot per tenth of a second. */
  private static void assertFewSnapshots(Set<Object> stacks, long startNanos) {
    long tenths = (System.nanoTime() - startNanos) / 100_000_000;
    assertTrue(stacks.size() <= tenths + 1, stacks.size() + " snapshots in " + tenths + " tenths of a second");
  }

  private static AskTimeoutException timeoutOf(RequestFuture<Object> request) {
    var deadline = request.deadline;
    request.expire();
    return assertThrows(AskTimeoutException.class, () -> request.await("asked", deadline, null));
  }

  /**
   * Uses the system's clock, so that only requests that time out within a tenth of a second share a
   * snapshot.
   */
  @Promise("4.17")
  @Test
  void hundredThousandSimultaneousTimeoutsShareFewStackSnapshots() {
    var actor = Job.worker(Variants.scope(o -> o).named("stuck"));
    var gate = occupy(actor, "Slow[1]");
    var cell = (Cell) actor;
    var requests = new ArrayList<RequestFuture<Object>>();
    for (int i = 0; i < 100_000; i++) {
      var request = new RequestFuture<Object>(cell, i, null, true);
      request.deadline = Deadline.of(cell.owner().options().scheduler(), LIMIT);
      ActorInternals.offer(cell, request, i);
      requests.add(request);
    }
    long startNanos = System.nanoTime();

    var stacks = Collections.newSetFromMap(new IdentityHashMap<Object, Boolean>());
    for (var request : requests.reversed()) stacks.add(timeoutOf(request).getCause());

    assertFewSnapshots(stacks, startNanos);
    gate.open();
  }

  @Promise("4.17")
  @Test
  void blockingToStringOfHandledMessageDelaysNoTimeout() {
    var gate = new Gate();
    var message = new Object() {
      @Override
      public String toString() {
        Patience.await(new CountDownLatch(1)); // like a wait for a lock that the handler holds
        return "mute";
      }
    };
    var actor = builder.newActorWithReturn((Object m) -> {
      if (m == message) blockAtGate(gate);
      return m;
    });
    actor.sendMessage(message);
    Patience.await(gate.entered);
    var failures = List.of(startAsk(actor, 1), startAsk(actor, 2));

    clock.advance(LIMIT);

    for (var failure : failures) assertSays(Patience.value(failure),
        "the actor has been handling " + message.getClass().getName()
            + " (its toString did not return in time) for at least 5 s");
  }

  @Promise("4.17")
  @Test
  void timeoutKeepsNoReferenceToHandledMessage() {
    var actor = Job.worker(builder.strategy(Strategy.RESIDENT_FIBER));
    var messageHolder = new Object[1];
    var gate = new Gate();
    messageHolder[0] = Job.act("Slow[1]", () -> blockAtGate(gate));
    var probe = new WeakReference<>(messageHolder[0]);
    actor.sendMessage(messageHolder[0]);
    Patience.await(gate.entered);
    messageHolder[0] = null;
    var timeout = expire(startAsk(actor, "Get"));

    gate.open();
    actor.ask("next");

    assertTrue(LeakProbe.collected(probe));
    assertInstanceOf(Diagnosis.HandlerStack.class, timeout.getCause());
  }
}
