package io.fibry.flow;

import static io.fibry.flow.NullAssertion.assertNullRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.FailurePolicy;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import io.fibry.testing.Variants.Variant;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class TimeLimitTest {
  private static final Duration LIMIT = Duration.ofMillis(300);

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("limited", o -> o.withScheduler(clock));
  private final List<Object> received = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  @Promise("24.9")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void slowHandlerIsInterruptedAndNextMessageIsHandled(Variant variant) {
    var builder = variant.builder(scope).onFailure(FailurePolicy.resume().withoutLog());
    var actor = TimeLimit.around(builder, LIMIT).newActor((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
      else received.add(message + " " + Thread.currentThread().isInterrupted());
    });
    Gate.occupy(actor);
    Patience.startFiber(() -> actor.sendMessage("next"));

    clock.advance(LIMIT.minusNanos(1));
    assertEquals(List.of(), received);
    clock.advance(Duration.ofNanos(1));

    Patience.eventually(() -> received.size() == 1);
    assertEquals(List.of("next false"), received);
    assertEquals(1, scope.report().unhandled().get(Reason.FAILED));
  }

  @Promise("24.9")
  @Test
  void askerGetsTimeoutWithExceptionOfHandlerAsCause() {
    var actor = TimeLimit.around(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), LIMIT)
        .newActorWithReturn((Gate gate) -> {
          gate.pass();
          return "passed";
        });
    var gate = new Gate();
    var answer = actor.sendMessageReturn(gate);
    Patience.await(gate.entered);

    clock.advance(LIMIT);

    var timeout = assertInstanceOf(TimeoutException.class, Patience.failure(answer));
    assertTrue(timeout.getMessage().startsWith("it took longer than 300 ms to handle io.fibry.testing.Gate@"),
        timeout.getMessage());
    assertTrue(timeout.getMessage().endsWith(", so the handler was interrupted"), timeout.getMessage());
    assertInstanceOf(InterruptedException.class, timeout.getCause());
  }

  @Promise("24.9")
  @Test
  void askerGetsLateAnswerIfHandlerIgnoresInterrupt() {
    var actor = TimeLimit.around(scope.anonymous(), LIMIT).newActorWithReturn((Gate gate) -> {
      gate.passUninterruptibly();
      return "passed";
    });
    var gate = new Gate();
    var answer = actor.sendMessageReturn(gate);
    Patience.await(gate.entered);

    clock.advance(LIMIT);
    gate.open();

    assertEquals("passed", Patience.value(answer));
  }

  @Test
  void handlerExceptionWithinLimitReachesAskerUnchanged() {
    var actor = TimeLimit.around(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), LIMIT)
        .newActorWithReturn((String message) -> Integer.parseInt(message));

    assertThrows(NumberFormatException.class, () -> actor.ask("four"));
    assertEquals(4, actor.ask("4"));
    assertTrue(clock.untilNext().isEmpty(), "a timer is pending");
  }

  /**
   * When the clock has advanced and the scope is quiet again, the handler must have been
   * interrupted.
   */
  @Promise("24.9")
  @Test
  void sleepingHandlerIsInterruptedWhenClockPassesLimit() {
    var actor = TimeLimit.around(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), LIMIT)
        .newActorWithReturn((String message) -> {
          clock.sleep(Duration.ofHours(1));
          return message;
        });
    for (int i = 0; i < 300; i++) {
      var answer = actor.sendMessageReturn("sleeps");
      assertTrue(scope.awaitQuiescence(Patience.LONG));

      clock.advance(LIMIT);
      assertTrue(scope.awaitQuiescence(Patience.LONG));

      assertTrue(answer.isDone(), "not interrupted in round " + i);
    }
  }

  @Promise("24.9")
  @Test
  void eachRetryHasTheWholeLimit() {
    var tries = new AtomicInteger();
    var actor = TimeLimit.around(scope.anonymous().onFailure(FailurePolicy.resume().withRetries(1).withoutLog()), LIMIT)
        .newActorWithReturn((Gate gate) -> {
          if (tries.incrementAndGet() == 1) gate.pass();
          return "at the second try";
        });
    var gate = new Gate();
    var answer = actor.sendMessageReturn(gate);
    Patience.await(gate.entered);

    clock.advance(LIMIT);

    assertEquals("at the second try", Patience.value(answer));
  }

  @Promise("24.9")
  @Test
  void eachWorkerOfAPoolHasItsOwnLimit() {
    var pool = TimeLimit.around(Pools.fixed(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), 2), LIMIT)
        .newActor((Object message) -> {
          if (message instanceof Gate gate) gate.pass();
          else received.add(message);
        });
    Gate.occupy(pool);
    clock.advance(Duration.ofMillis(200));
    var secondGate = Gate.occupy(pool);

    clock.advance(Duration.ofMillis(100));
    pool.sendMessage("for the first worker");

    Patience.eventually(() -> received.size() == 1);
    assertFalse(scope.awaitQuiescence(Duration.ofMillis(1)));
    secondGate.open();
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(1, scope.report().unhandled().get(Reason.FAILED));
  }

  /**
   * Handlers run for about as long as their limit allows. No interrupt may reach the next message.
   */
  @Promise("24.9")
  @Test
  void noInterruptReachesTheNextMessage() {
    long seed = StressRuns.seed();
    System.out.println("time limit: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    var realTimeScope = ActorSystem.openScope("real");
    var leakCount = new AtomicInteger();
    var lateCount = new AtomicInteger();
    var builder = TimeLimit.around(realTimeScope.anonymous(), Duration.ofNanos(200_000));
    // this interceptor runs around the limit, so it sees an interrupt that the limit left behind
    var actor = builder.intercept((nanos, next) -> {
      next.run();
      if (Thread.currentThread().isInterrupted()) leakCount.incrementAndGet();
    }).newActorWithReturn((Long nanos) -> {
      long end = System.nanoTime() + nanos;
      while (System.nanoTime() < end) LockSupport.parkNanos(end - System.nanoTime());
      if (Thread.currentThread().isInterrupted()) lateCount.incrementAndGet();
      return nanos;
    });
    // continues until a handler has exceeded its limit, because otherwise the test would prove
    // nothing
    for (int i = 0; i < 3_000 || lateCount.get() == 0; i++) actor.ask(random.nextLong(400_000));
    realTimeScope.close();

    assertEquals(0, leakCount.get(), () -> "-Dfibry.seed=" + seed);
  }

  @Test
  void zeroLimitAndNullArgumentsAreRefused() {
    assertEquals("a limit of 0 s leaves no time for a message; give more than zero",
        assertThrows(IllegalArgumentException.class, () -> TimeLimit.around(scope.anonymous(), Duration.ZERO))
            .getMessage());
    assertNullRefused("builder", () -> TimeLimit.around(null, LIMIT));
    assertNullRefused("limit", () -> TimeLimit.around(scope.anonymous(), null));
  }
}
