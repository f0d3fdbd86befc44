package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.Inside;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Diagnosis;
import io.fibry.engine.message.RequestFuture;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
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
 * The text of the exception when the limit of a request is over. It leaves out frames of the
 * engine, so this test is not in a package of it.
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

  private static void stuckHere(Gate gate) throws InterruptedException {
    gate.pass();
  }

  /** Occupies the actor with a job of this name. */
  private static Gate occupy(Actor<Object> actor, String name) {
    var gate = new Gate();
    Patience.startFiber(() -> actor.sendMessage(Job.act(name, () -> stuckHere(gate))));
    Patience.await(gate.entered);
    Patience.parked(Inside.thread(actor));
    return gate;
  }

  /** Asks; returns when the asker waits. */
  private CompletableFuture<AskTimeoutException> ask(ActorWithReturn<Object, Object> actor, Object message) {
    var failure = new CompletableFuture<AskTimeoutException>();
    Patience.parked(Patience.startFiber(() -> {
      try {
        actor.ask(message, LIMIT);
      } catch (AskTimeoutException late) {
        failure.complete(late);
      }
    }));
    return failure;
  }

  private AskTimeoutException late(CompletableFuture<AskTimeoutException> failure) {
    clock.advance(LIMIT);
    return Patience.value(failure);
  }

  private static void assertSays(AskTimeoutException late, String... words) {
    for (String word : words)
      assertTrue(late.getMessage().contains(word), () -> "'" + word + "' is not in: " + late.getMessage());
  }

  @Promise("4.17")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#strategiesAlone")
  void timeoutTextShowsCurrentMessageDurationAndStack(Variants.Variant variant) {
    var actor = Job.worker(variant.named(scope, "x"));
    occupy(actor, "Slow[1]");

    var late = late(ask(actor, "Get"));

    assertSays(late,
        "actor 'x' did not answer \"Get\" within 5 s: its turn had not come, and will not: it was number 1 in the "
            + "queue; the actor has been handling Slow[1] for at least 5 s",
        "give ask a longer limit",
        ". The handler is at java.base/java.util.concurrent.CountDownLatch.await(",
        ") < io.fibry.Gate.pass(Gate.java:", ") < io.fibry.DiagnosisTest.stuckHere(DiagnosisTest.java:");
    assertEquals(1, late.getMessage().lines().count(), late.getMessage());
  }

  @Promise("4.17")
  @Test
  void timeoutCauseHasStackOfHandler() {
    var actor = Job.worker(builder);
    occupy(actor, "Slow[1]");

    var cause = late(ask(actor, "Get")).getCause();

    assertEquals("actor 'x' was here", cause.getMessage());
    var methods = Arrays.stream(cause.getStackTrace()).map(StackTraceElement::getMethodName).toList();
    assertTrue(methods.contains("park") && methods.contains("stuckHere"), methods::toString);
    assertFalse(methods.contains("attempt") || methods.contains("drain"), methods::toString);
  }

  @Promise("4.17")
  @Test
  void timeoutTextShowsQueuePosition() {
    var actor = Job.worker(builder);
    occupy(actor, "Slow[1]");
    for (int i = 0; i < 5; i++) actor.sendMessage(i);
    actor.sendMessageReturn((Object) "cancelled").cancel(true);

    assertSays(late(ask(actor, "Get")), "it was number 6 in the queue");
  }

  @Promise("4.17")
  @Test
  void timeoutTextShowsQueuePositionInBoundedMailbox() {
    var actor = Job.worker(builder.mailbox(Mailbox.bounded(100, Overflow.BLOCK)));
    occupy(actor, "Slow[1]");
    for (int i = 0; i < 5; i++) actor.sendMessage(i);

    assertSays(late(ask(actor, "Get")), "it was number 6 in the queue");
  }

  @Promise("4.17")
  @Test
  void queuePositionIsCountedUpToAThousand() {
    var actor = Job.worker(builder);
    occupy(actor, "Slow[1]");
    for (int i = 0; i < 1000; i++) actor.sendMessage(i);

    assertSays(late(ask(actor, "Get")), "will not: more than 1,000 were before it; the actor has been");
  }

  @Test
  void queuePositionIsCountedAgainForLaterRequest() {
    var actor = Job.worker(builder);
    occupy(actor, "Slow[1]");
    var first = ask(actor, "first");
    clock.advance(Duration.ofMillis(50));
    var second = ask(actor, "second");

    clock.advance(LIMIT);

    assertSays(Patience.value(first), "it was number 1 in the queue");
    assertNotNull(Patience.value(second));
  }

  @Promise("4.17")
  @Test
  void timeoutTextShowsThatHandlingHadBegun() {
    var actor = Job.worker(builder);
    var gate = new Gate();

    var failure = ask(actor, Job.act("Slow[1]", () -> stuckHere(gate)));
    Patience.await(gate.entered);

    assertSays(late(failure), "it had begun with it, and may still be at it; the actor ", " handling Slow[1]",
        "DiagnosisTest.stuckHere(");
  }

  @Promise("4.17")
  @Test
  void timeoutTextShowsPromisedAnswer() {
    var promised = new CountDownLatch(1);
    var actor = builder.newActor((Object m, ActorContext<Object> context) -> {
      context.replyWhen((Call) m, new CompletableFuture<>());
      promised.countDown();
    });
    var failure = new CompletableFuture<AskTimeoutException>();
    Patience.startFiber(() -> {
      try {
        actor.ask(new Call(), LIMIT);
      } catch (AskTimeoutException late) {
        failure.complete(late);
      }
    });

    Patience.await(promised);

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
    var other = Job.worker(scope.named("y"));
    occupy(other, "Slow[2]");
    actor.sendMessage(Job.act("Slow[1]", () -> other.ask("Inner[7]", Duration.ofDays(1))));
    Job.waiting(actor);

    assertSays(late(ask(actor, "Get")),
        "the actor has been handling Slow[1] for at least 5 s, where it waits for 'y' (\"Inner[7]\")",
        ". The handler is at io.fibry.DiagnosisTest.lambda$timeoutTextShows");
  }

  @Promise("4.17")
  @Test
  void timeoutTextShowsWaitForMailboxRoom() {
    var actor = Job.worker(builder.mailbox(Mailbox.bounded(1, Overflow.BLOCK)));
    occupy(actor, "Slow[1]");
    actor.sendMessage("fits");

    assertSays(late(ask(actor, "Get")),
        "its turn had not come, and will not: it waited for room in the mailbox, which holds 1; the actor is "
            + "handling Slow[1]");
  }

  @Promise("4.17")
  @Test
  void timeoutTextShowsActorWithoutThread() {
    var actor = Job.worker(builder.strategy(Strategy.of(new Lazy())));

    assertSays(late(ask(actor, "Get")),
        "it was number 1 in the queue; the actor has been given no thread yet by Strategy.of(a lazy pool)");
  }

  private static final class Lazy implements Executor {
    @Override
    public void execute(Runnable never) {}

    @Override
    public String toString() {
      return "a lazy pool";
    }
  }

  @Promise("4.17")
  @Test
  void timeoutTextShowsStashedRequest() {
    var actor =
        builder.mailbox(Mailbox.unbounded().selective())
            .newActorWithReturn((Object m, ActorContext<Object> context) -> {
              if (m instanceof Gate gate) stuckHere(gate);
              else context.stash();
              return m;
            });
    var failure = ask(actor, "Get");
    Gate.occupy(actor);

    assertSays(late(failure), "its turn had not come, and will not: it was put aside; the actor is handling");
  }

  @Promise("4.17")
  @Test
  void timeoutTextShowsSuspendedActor() {
    var suspended =
        builder.onFailure(FailurePolicy.restart().withBackoff(Duration.ofHours(1), Duration.ofHours(1)).withoutLog())
            .newActorWithReturn((Object m) -> {
              throw new IllegalStateException("planned");
            });
    suspended.sendMessage("fails");
    Patience.eventually(() -> Inside.isSuspended(suspended));

    assertSays(late(ask(suspended, "Get")), "its turn had not come, and will not; the actor rests after a failure");
  }

  @Promise("4.17")
  @Test
  void requestsThatTimeOutTogetherShareOneSnapshot() {
    var actor = Job.worker(builder);
    occupy(actor, "Slow[1]");
    var failures = new ArrayList<CompletableFuture<AskTimeoutException>>();
    for (int i = 0; i < 50; i++) failures.add(ask(actor, i));
    long began = System.nanoTime();

    clock.advance(LIMIT);

    var stacks = Collections.newSetFromMap(new IdentityHashMap<Object, Boolean>());
    for (var failure : failures) stacks.add(Patience.value(failure).getCause());
    assertFewSnapshots(stacks, began);
    assertFalse(stacks.contains(late(ask(actor, "later")).getCause()));
  }

  /** A snapshot is shared for a tenth of a second by the machine's clock, too. */
  private static void assertFewSnapshots(Set<Object> stacks, long began) {
    long tenths = (System.nanoTime() - began) / 100_000_000;
    assertTrue(stacks.size() <= tenths + 1, stacks.size() + " snapshots in " + tenths + " tenths of a second");
  }

  private static AskTimeoutException expired(RequestFuture<Object> request) {
    var deadline = request.deadline;
    request.expire();
    return assertThrows(AskTimeoutException.class, () -> request.await("asked", deadline, null));
  }

  /** Uses the machine's clock: the cost is one snapshot per tenth of a second. */
  @Promise("4.17")
  @Test
  void hundredThousandRequestsMayTimeOutTogether() {
    var stuck = Job.worker(Variants.scope(o -> o).named("stuck"));
    var gate = occupy(stuck, "Slow[1]");
    var actor = (Cell) stuck;
    var all = new ArrayList<RequestFuture<Object>>();
    for (int i = 0; i < 100_000; i++) {
      var request = new RequestFuture<Object>(actor, i, null, true);
      request.deadline = Deadline.of(actor.owner().options().scheduler(), LIMIT);
      Inside.offer(actor, request, i);
      all.add(request);
    }
    long began = System.nanoTime();

    var stacks = Collections.newSetFromMap(new IdentityHashMap<Object, Boolean>());
    for (var request : all.reversed()) stacks.add(expired(request).getCause());

    assertFewSnapshots(stacks, began);
    gate.open();
  }

  @Promise("4.17")
  @Test
  void messageWithBlockingToStringDelaysNoSender() {
    var gate = new Gate();
    var mute = new Object() {
      @Override
      public String toString() {
        Patience.await(new CountDownLatch(1)); // as for a lock that the handler holds
        return "mute";
      }
    };
    var stuck = builder.newActorWithReturn((Object m) -> {
      if (m == mute) stuckHere(gate);
      return m;
    });
    stuck.sendMessage(mute);
    Patience.await(gate.entered);
    var failures = List.of(ask(stuck, 1), ask(stuck, 2));

    clock.advance(LIMIT);

    for (var failure : failures) assertSays(Patience.value(failure),
        "the actor has been handling " + mute.getClass().getName()
            + " (its toString did not return in time) for at least 5 s");
  }

  @Test
  void nestedHandlersOnOneThreadShowOwnPartsOfStack() {
    var outer = Job.worker(builder);
    var inner = Job.worker(scope.named("y").strategy(Strategy.CALLER));
    var gate = new Gate();
    outer.sendMessage(Job.act("Outer", () -> inner.sendMessage(Job.act("Inner", () -> stuckHere(gate)))));
    Patience.await(gate.entered);
    var both = List.of(ask(outer, "Get"), ask(inner, "Get"));

    clock.advance(LIMIT);

    var ofOuter = Arrays.stream(Patience.value(both.get(0)).getCause().getStackTrace())
        .map(StackTraceElement::getMethodName).toList();
    var ofInner = Arrays.stream(Patience.value(both.get(1)).getCause().getStackTrace())
        .map(StackTraceElement::getMethodName).toList();
    assertTrue(ofOuter.contains("sendMessage") && ofOuter.contains("stuckHere"), ofOuter::toString);
    assertTrue(!ofInner.contains("sendMessage") && ofInner.contains("stuckHere"), ofInner::toString);
  }

  @Promise("4.17")
  @Test
  void timeoutKeepsNoReferenceToHandledMessage() {
    var actor = Job.worker(builder.strategy(Strategy.RESIDENT_FIBER));
    var message = new Object[1];
    var gate = new Gate();
    message[0] = Job.act("Slow[1]", () -> stuckHere(gate));
    var probe = new WeakReference<>(message[0]);
    actor.sendMessage(message[0]);
    Patience.await(gate.entered);
    message[0] = null;
    var late = late(ask(actor, "Get"));

    gate.open();
    actor.ask("next");

    assertTrue(LeakProbe.collected(probe));
    assertInstanceOf(Diagnosis.HandlerStack.class, late.getCause());
  }
}
