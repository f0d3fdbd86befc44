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
import io.fibry.Gate;
import io.fibry.Letters;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.Variants;
import io.fibry.engine.actor.Cells;
import io.fibry.mailbox.Mailbox;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The suspension before a restart, by a clock that the test moves. */
class SuspensionTest {
  private static final FailurePolicy BACK_OFF =
      FailurePolicy.restart().withBackoff(Duration.ofSeconds(1), Duration.ofSeconds(4)).withoutLog();
  private static final Duration MOMENT = Duration.ofNanos(1);

  private final Letters letters = new Letters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = Variants.scope(o -> o.withDeadLetters(letters).withScheduler(clock));
  private final List<Object> log = new CopyOnWriteArrayList<>();
  private final AtomicInteger states = new AtomicInteger();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    clock.advance(Duration.ofDays(1));
  }

  private Actor<Object> actor(ActorBuilder<Object> builder) {
    return builder.onFailure(BACK_OFF).initialState(states::incrementAndGet).newActor((Integer state, Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      else if (m instanceof RuntimeException failure) throw failure;
      log.add(state + " " + m);
    });
  }

  private Actor<Object> actor() {
    return actor(scope.anonymous());
  }

  /** Fails now, and is suspended. */
  private static void fail(Actor<Object> actor) {
    actor.sendMessage(new IllegalStateException("planned"));
    Patience.eventually(() -> Inside.isSuspended(actor));
  }

  /** Asserts that the suspension lasts from half of {@code most} to {@code most}. */
  private void restsFor(Actor<Object> actor, Duration most) {
    clock.advance(most.dividedBy(2).minus(MOMENT));
    assertTrue(Inside.isSuspended(actor), "less than half of " + most);
    clock.advance(most.dividedBy(2).plus(MOMENT));
    assertFalse(Inside.isSuspended(actor), "more than " + most);
  }

  @Promise("17.2")
  @Test
  void backoffDoublesUpToMaxAndIsShortenedByUpToHalf() {
    var actor = actor();

    for (int seconds : new int[] {1, 2, 4, 4, 4}) {
      fail(actor);
      restsFor(actor, Duration.ofSeconds(seconds));
    }
  }

  @Promise("17.2")
  @Test
  void actorsThatFailTogetherRestartAtDifferentTimes() {
    Set<Long> pauses = new HashSet<>();

    for (int i = 0; i < 100; i++) pauses.add(new RestartBudget().next(BACK_OFF, 0));

    assertTrue(pauses.size() > 90, () -> pauses.size() + " of 100 differ");
    assertTrue(pauses.stream().allMatch(p -> p >= 500_000_000 && p <= 1_000_000_000), pauses::toString);
  }

  @Promise("17.2")
  @Test
  void backoffIsResetAfterTimeWithoutFailures() {
    var actor = actor();
    for (int seconds : new int[] {1, 2, 4}) {
      fail(actor);
      restsFor(actor, Duration.ofSeconds(seconds));
    }

    clock.advance(Duration.ofSeconds(4).plus(MOMENT));
    fail(actor);

    restsFor(actor, Duration.ofSeconds(1));
  }

  @Test
  void messagesWaitDuringBackoff() {
    var actor = actor(scope.named("tired"));
    fail(actor);
    for (int i = 0; i < 3; i++) actor.sendMessage(i);
    long waiting = scope.report().queued();
    boolean handled = !log.isEmpty();

    clock.advance(Duration.ofSeconds(1));

    Patience.eventually(() -> log.size() == 3);
    assertEquals(List.of("2 0", "2 1", "2 2"), log);
    assertEquals(3, waiting);
    assertFalse(handled);
  }

  @Promise("17.3")
  @Test
  void aSecondFailureLosesNothing() {
    var actor = actor();
    fail(actor);
    for (Object m : List.of("a", new IllegalArgumentException("second"), "b")) actor.sendMessage(m);
    clock.advance(Duration.ofSeconds(1));
    Patience.eventually(() -> letters.all.size() == 2 && Inside.isSuspended(actor));

    clock.advance(Duration.ofSeconds(2));

    Patience.eventually(() -> log.size() == 2);
    assertEquals(List.of("2 a", "3 b"), log);
    assertEquals(2, scope.report().unhandled().get(Reason.FAILED));
  }

  @Test
  void theOldStateIsLeftBeforeTheBackOff() {
    var actor = scope.anonymous().onFailure(BACK_OFF).initialState(() -> "state").onStop(state -> log.add("left"))
        .newActor((String state, Object m) -> {
          throw new IllegalStateException("planned");
        });

    fail(actor);

    assertEquals(List.of("left"), log);
  }

  @Promise("17.4")
  @Test
  void aSuspendedFiberHoldsNoThread() {
    var thread = new CompletableFuture<Thread>();
    var actor = scope.anonymous().onFailure(BACK_OFF).newActor((Object m) -> {
      thread.complete(Thread.currentThread());
      throw new IllegalStateException("planned");
    });

    fail(actor);

    Patience.joined(Patience.value(thread));
    assertFalse(Inside.hasWorker(actor));
  }

  @Promise("17.4")
  @Test
  void aBackOffHoldsNoThreadOfAPool() {
    try (var pool = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory())) {
      var actor = actor(scope.anonymous().strategy(Strategy.of(pool)));

      fail(actor);

      assertEquals("free", Patience.value(pool.submit(() -> "free")));
      actor.kill();
    }
  }

  @ParameterizedTest
  @MethodSource("ends")
  void anEndDuringTheBackOffComesAtOnce(Consumer<Actor<Object>> end) {
    var actor = actor();
    fail(actor);
    actor.sendMessage("waits");
    var request = Cells.sendRequest(actor, "asks");

    end.accept(actor);

    assertFalse(Patience.value(actor.onExit()) instanceof ExitReason.Finished);
    assertEquals(List.of("waits"), letters.messages(Reason.UNDELIVERED));
    assertInstanceOf(ActorStoppedException.class, Patience.failure(request));
  }

  static List<Consumer<Actor<Object>>> ends() {
    return List.of(Actor::askExit, Actor::kill);
  }

  @Promise("17.3")
  @Test
  void pillWaitsBehindMessagesDuringBackoff() {
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
  void logLineNamesBackoff() {
    try (var logged = new Logged()) {
      var actor = scope.named("tired")
          .onFailure(FailurePolicy.restart().withBackoff(Duration.ofSeconds(1), Duration.ofSeconds(1)))
          .newActor((Object m) -> {
            throw new IllegalStateException("planned");
          });

      fail(actor);

      assertTrue(logged.text().matches("(?s).*'tired' failed at .*; it restarts in ([5-9]\\d\\d|1000) ms.*"),
          logged.text());
    }
  }

  @Promise("17.6")
  @Test
  void budgetsAreCountedByTheClockOfTheScope() {
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
    boolean ended = actor.onExit().isDone();

    for (int i = 0; i < 3; i++) actor.sendMessage(i);

    Patience.ended(actor::waitForExit);
    assertFalse(ended);
  }

  @Promise("17.3")
  @Test
  void stashedMessagesAreBackAfterTheBackOff() {
    var actor = scope.anonymous().mailbox(Mailbox.unbounded().selective()).onFailure(BACK_OFF)
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
  void aMessageThatFailedAfterItWasStashedComesBackOnce() {
    var actor = scope.anonymous().mailbox(Mailbox.unbounded().selective()).onFailure(BACK_OFF)
        .initialState(states::incrementAndGet)
        .newActorWithReturn((Integer state, Object m, ActorContext<Object> context) -> {
          log.add(state + " " + m);
          if (state > 1) return "answer";
          context.stash();
          throw new IllegalStateException("planned");
        });
    var answer = actor.sendMessageReturn("a");
    Patience.eventually(() -> Inside.isSuspended(actor));

    clock.advance(Duration.ofSeconds(1));

    assertEquals("answer", Patience.value(answer));
    assertEquals(List.of("1 a", "2 a"), log);
    Patience.eventually(() -> scope.report().handled() == 1);
    assertEquals(0, scope.report().unhandled().get(Reason.FAILED));
  }

  @Promise("17.4")
  @Test
  void anInlineRequestThatFailsLeavesTheBackOffToAnother() {
    var actor = scope.anonymous().inlineRequests().onFailure(BACK_OFF).newActorWithReturn((Object m) -> {
      if (m instanceof RuntimeException failure) throw failure;
      return Thread.currentThread();
    });
    var asker = new CompletableFuture<Throwable>();
    var planned = new IllegalStateException("planned");
    Patience.startFiber(() -> {
      try {
        actor.ask(planned);
      } catch (Throwable thrown) {
        asker.complete(thrown);
      }
    });
    var thrown = Patience.value(asker); // at once, not after the suspension
    boolean suspended = Inside.isSuspended(actor);

    clock.advance(Duration.ofSeconds(1));

    assertInstanceOf(Thread.class, Patience.value(actor.sendMessageReturn("on")));
    assertEquals(planned, thrown);
    assertTrue(suspended);
  }
}
