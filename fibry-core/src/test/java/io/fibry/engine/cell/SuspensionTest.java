package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.engine.actor.Cells;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import io.fibry.time.ManualScheduler;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the suspension before a restart, with a clock that the test advances. */
class SuspensionTest {
  private static final FailurePolicy BACKOFF =
      FailurePolicy.restart().withBackoff(Duration.ofSeconds(1), Duration.ofSeconds(4)).withoutLog();
  private static final Duration MOMENT = Duration.ofNanos(1);

  private final RecordedLetters letters = new RecordedLetters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = Variants.scope(o -> o.withDeadLetterListener(letters).withScheduler(clock));
  private final List<Object> log = new CopyOnWriteArrayList<>();
  private final AtomicInteger states = new AtomicInteger();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    clock.advance(Duration.ofDays(1));
  }

  private Actor<Object> actor(ActorBuilder<Object> builder) {
    return builder.onFailure(BACKOFF).initialState(states::incrementAndGet).newActor((Integer state, Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      else if (m instanceof RuntimeException failure) throw failure;
      log.add(state + " " + m);
    });
  }

  private Actor<Object> actor() {
    return actor(scope.anonymous());
  }

  /** Lets the actor fail, and waits until it is suspended. */
  private static void fail(Actor<Object> actor) {
    actor.sendMessage(new IllegalStateException("planned"));
    Patience.eventually(() -> ActorInternals.isSuspended(actor));
  }

  /** Asserts that the suspension lasts exactly this long on the manual clock. */
  private void assertSuspendedFor(Actor<Object> actor, Duration duration) {
    clock.advance(duration.minus(MOMENT));
    assertTrue(ActorInternals.isSuspended(actor), "suspended for less than " + duration);
    clock.advance(MOMENT);
    assertFalse(ActorInternals.isSuspended(actor), "suspended for more than " + duration);
  }

  @Promise("17.2")
  @Test
  void backoffDoublesUpToMax() {
    var actor = actor();

    for (int seconds : new int[] {1, 2, 4, 4, 4}) {
      fail(actor);
      assertSuspendedFor(actor, Duration.ofSeconds(seconds));
    }
  }

  /** The drain has taken the message out of the mailbox when it sees the request for a restart. */
  @Promise("17.3")
  @Test
  void restartRequestedWithBackoffLosesNoQueuedMessage() {
    var actor = actor(scope.anonymous().mailbox(Mailbox.bounded(10, Overflow.REJECT)));
    var gate = Gate.occupy(actor);
    actor.sendMessage("waits");
    ((Cell) actor).requestRestart(Duration.ofSeconds(1).toNanos());
    gate.open();
    Patience.eventually(() -> ActorInternals.isSuspended(actor));

    clock.advance(Duration.ofSeconds(1));

    Patience.eventually(() -> log.contains("2 waits"));
  }

  @Promise("17.2")
  @Test
  void actorsThatFailTogetherRestartAtDifferentTimes() {
    Set<Long> backoffs = new HashSet<>();

    for (int i = 0; i < 100; i++) backoffs.add(new RestartBudget().countRestart(BACKOFF, Scheduler.system()));

    assertTrue(backoffs.size() > 90, () -> backoffs.size() + " of 100 differ");
    assertTrue(backoffs.stream().allMatch(p -> p >= 500_000_000 && p <= 1_000_000_000), backoffs::toString);
  }

  @Promise("17.2")
  @Test
  void backoffIsResetAfterTimeWithoutFailures() {
    var actor = actor();
    for (int seconds : new int[] {1, 2, 4}) {
      fail(actor);
      assertSuspendedFor(actor, Duration.ofSeconds(seconds));
    }

    clock.advance(Duration.ofSeconds(4).plus(MOMENT));
    fail(actor);

    assertSuspendedFor(actor, Duration.ofSeconds(1));
  }

  @Test
  void messagesWaitDuringBackoff() {
    var actor = actor(scope.named("tired"));
    fail(actor);
    for (int i = 0; i < 3; i++) actor.sendMessage(i);
    long queuedCount = scope.report().queued();
    boolean handled = !log.isEmpty();

    clock.advance(Duration.ofSeconds(1));

    Patience.eventually(() -> log.size() == 3);
    assertEquals(List.of("2 0", "2 1", "2 2"), log);
    assertEquals(3, queuedCount);
    assertFalse(handled);
  }

  @Promise("17.3")
  @Test
  void failureAfterBackoffLosesNoQueuedMessage() {
    var actor = actor();
    fail(actor);
    for (Object m : List.of("a", new IllegalArgumentException("second"), "b")) actor.sendMessage(m);
    clock.advance(Duration.ofSeconds(1));
    Patience.eventually(() -> letters.all.size() == 2 && ActorInternals.isSuspended(actor));

    clock.advance(Duration.ofSeconds(2));

    Patience.eventually(() -> log.size() == 2);
    assertEquals(List.of("2 a", "3 b"), log);
    assertEquals(2, scope.report().unhandled().get(Reason.FAILED));
  }

  @Test
  void stopHookRunsBeforeBackoff() {
    var actor = scope.anonymous().onFailure(BACKOFF).initialState(() -> "state").onStop(state -> log.add("stopped"))
        .newActor((String state, Object m) -> {
          throw new IllegalStateException("planned");
        });

    fail(actor);

    assertEquals(List.of("stopped"), log);
  }

  @Promise("17.4")
  @Test
  @Tag("jdk-scheduler")
  void suspendedFiberHoldsNoThread() {
    var thread = new CompletableFuture<Thread>();
    var actor = scope.anonymous().onFailure(BACKOFF).newActor((Object m) -> {
      thread.complete(Thread.currentThread());
      throw new IllegalStateException("planned");
    });

    fail(actor);

    Patience.awaitEnd(Patience.value(thread));
    assertFalse(ActorInternals.hasActivation(actor));
  }

  @Promise("17.4")
  @Test
  void backoffHoldsNoThreadOfExecutor() {
    try (var pool = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory())) {
      var actor = actor(scope.anonymous().strategy(Strategy.of(pool)));

      fail(actor);

      assertEquals("free", Patience.value(pool.submit(() -> "free")));
      actor.kill();
    }
  }

  @ParameterizedTest
  @MethodSource("stops")
  void stopDuringBackoffEndsActorAtOnce(Consumer<Actor<Object>> stop) {
    var actor = actor();
    fail(actor);
    actor.sendMessage("waits");
    var request = Cells.sendRequest(actor, "asks");

    stop.accept(actor);

    assertFalse(Patience.value(actor.onExit()) instanceof ExitReason.Finished);
    assertEquals(List.of("waits"), letters.messages(Reason.UNDELIVERED));
    assertInstanceOf(ActorStoppedException.class, Patience.failure(request));
  }

  static List<Consumer<Actor<Object>>> stops() {
    return List.of(Actor::askExit, Actor::kill);
  }

  @Promise("17.3")
  @Test
  void poisonPillEndsActorAfterMessagesQueuedDuringBackoff() {
    var actor = actor();
    fail(actor);
    actor.sendMessage("a");
    actor.sendPoisonPill();

    clock.advance(Duration.ofSeconds(1));

    assertEquals(new ExitReason.Finished(), Patience.value(actor.onExit()));
    assertEquals(List.of("2 a"), log);
  }

  @Promise("17.2")
  @Test
  void failureLogShowsBackoff() {
    try (var logged = new Logged()) {
      var actor = scope.named("tired")
          .onFailure(FailurePolicy.restart().withBackoff(Duration.ofSeconds(1), Duration.ofSeconds(1)))
          .newActor((Object m) -> {
            throw new IllegalStateException("planned");
          });

      fail(actor);

      assertTrue(logged.text().matches("(?s).*'tired' failed at .*; it restarts in 1 s.*"), logged.text());
    }
  }

  @Promise("17.6")
  @Test
  void restartBudgetUsesClockOfScope() {
    var policy = FailurePolicy.restart().withBudget(2, Duration.ofMinutes(1)).withoutLog();
    var actor = scope.named("tired").onFailure(policy).newActor((Object m) -> {
      throw new IllegalStateException("planned");
    });
    for (int i = 0; i < 5; i++) {
      actor.sendMessage(1);
      actor.sendMessage(2);
      assertTrue(scope.awaitQuiescence(Patience.LONG));
      clock.advance(Duration.ofMinutes(1).plus(MOMENT));
    }
    boolean endedEarly = actor.onExit().isDone();

    for (int i = 0; i < 3; i++) actor.sendMessage(i);

    Patience.awaitEnd(actor::waitForExit);
    assertFalse(endedEarly);
  }

  @Promise("17.3")
  @Test
  void stashedMessagesAreHandledFirstAfterBackoff() {
    var actor = scope.anonymous().mailbox(Mailbox.unbounded().selective()).onFailure(BACKOFF)
        .initialState(states::incrementAndGet).newActor((Integer state, Object m, ActorContext<Object> context) -> {
          if (m instanceof RuntimeException failure) throw failure;
          if (state == 1) context.stash();
          else log.add(m);
        });
    actor.sendMessage("a");
    actor.sendMessage("b");
    fail(actor);
    actor.sendMessage("c");

    clock.advance(Duration.ofSeconds(1));

    Patience.eventually(() -> log.size() == 3);
    assertEquals(List.of("a", "b", "c"), log);
  }

  @Promise("17.3")
  @Test
  void messageStashedBeforeFailureIsHandledOnceAfterRestart() {
    var actor = scope.anonymous().mailbox(Mailbox.unbounded().selective()).onFailure(BACKOFF)
        .initialState(states::incrementAndGet)
        .newActorWithReturn((Integer state, Object m, ActorContext<Object> context) -> {
          log.add(state + " " + m);
          if (state > 1) return "answer";
          context.stash();
          throw new IllegalStateException("planned");
        });
    var answer = actor.sendMessageReturn("a");
    Patience.eventually(() -> ActorInternals.isSuspended(actor));

    clock.advance(Duration.ofSeconds(1));

    assertEquals("answer", Patience.value(answer));
    assertEquals(List.of("1 a", "2 a"), log);
    Patience.eventually(() -> scope.report().handled() == 1);
    assertEquals(0, scope.report().unhandled().get(Reason.FAILED));
  }

  @Promise("17.4")
  @Test
  void askerOfFailedInlineRequestDoesNotWaitForBackoff() {
    var actor = scope.anonymous().inlineRequests().onFailure(BACKOFF).newActorWithReturn((Object m) -> {
      if (m instanceof RuntimeException failure) throw failure;
      return Thread.currentThread();
    });
    var failure = new CompletableFuture<Throwable>();
    var planned = new IllegalStateException("planned");
    Patience.startFiber(() -> {
      try {
        actor.ask(planned);
      } catch (Throwable thrown) {
        failure.complete(thrown);
      }
    });
    var thrown = Patience.value(failure); // the asker gets the exception at once, while the actor is suspended
    boolean suspended = ActorInternals.isSuspended(actor);

    clock.advance(Duration.ofSeconds(1));

    assertInstanceOf(Thread.class, Patience.value(actor.sendMessageReturn("next")));
    assertEquals(planned, thrown);
    assertTrue(suspended);
  }
}
