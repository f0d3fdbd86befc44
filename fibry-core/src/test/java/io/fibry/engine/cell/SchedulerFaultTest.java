package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.engine.actor.DefaultActorBuilder;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests user-defined schedulers that hold a lock while they set a timer, or that run tasks
 * immediately.
 */
class SchedulerFaultTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  /** A call that makes the engine set a timer. */
  private interface TimerCall {
    void run(Actor<Object> actor);
  }

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  private static Stream<Arguments> timerCalls() {
    TimerCall sendLater = actor -> actor.sendMessageLater("later", SECOND);
    TimerCall sendEvery = actor -> actor.sendMessageEvery("every", SECOND);
    TimerCall kill = Actor::kill;
    return Stream.of(Arguments.of("sendMessageLater", sendLater), Arguments.of("sendMessageEvery", sendEvery),
        Arguments.of("kill", kill));
  }

  /**
   * If the actor held its monitor while it calls the scheduler, a thread that has the scheduler's
   * lock and reads the actor's state would deadlock.
   */
  @Promise("12.5")
  @ParameterizedTest(name = "{0}")
  @MethodSource("timerCalls")
  void actorHoldsNoMonitorWhileItCallsScheduler(String name, TimerCall timerCall) {
    var lock = new Object();
    var scheduleCalled = new CountDownLatch(1);
    var reason = new CompletableFuture<ExitReason>();
    var actor = Variants.scope(o -> o.withScheduler(new Clock() {
      @Override
      public Timer schedule(Duration delay, Runnable task) {
        scheduleCalled.countDown();
        synchronized (lock) {
          return super.schedule(delay, task);
        }
      }

      @Override
      public Timer scheduleAtFixedRate(Duration initial, Duration period, Runnable task) {
        return schedule(initial, task);
      }
    })).anonymous().newActor((Object m) -> {
      if (m instanceof Gate gate) gate.passUninterruptibly();
    });
    Gate.occupy(actor);

    Thread.ofPlatform().daemon().start(() -> {
      synchronized (lock) {
        Thread.ofPlatform().daemon().start(() -> timerCall.run(actor));
        Patience.await(scheduleCalled);
        reason.complete(((Cell) actor).extras().reason());
      }
    });

    Patience.value(reason);
  }

  /** A scope whose options the timer's thread cannot read once, because memory is exhausted. */
  private static final class ExhaustedScope extends NonMemberScope {
    final AtomicInteger faults = new AtomicInteger(1);

    ExhaustedScope(ActorScope scope) {
      super((OwningScope) scope);
    }

    @Override
    public ActorScope.Options options() {
      if (Thread.currentThread().getName().equals("fibry-timer") && faults.getAndDecrement() > 0)
        throw new OutOfMemoryError("planned");
      return super.options();
    }
  }

  @Promise("12.7")
  @Test
  void messageOfTimerIsDeadLetterIfMemoryIsExhausted() {
    var letters = new RecordedLetters();
    var scope = new ExhaustedScope(Variants.scope(o -> o.withDeadLetterListener(letters)));
    var actor = DefaultActorBuilder.of(scope).newActor((Object m) -> {});

    actor.sendMessageLater("lost", Duration.ofMillis(1));

    Patience.eventually(() -> letters.messages(Reason.UNDELIVERED).equals(List.of("lost")));
    assertEquals(OutOfMemoryError.class, letters.all.getFirst().cause().orElseThrow().getClass());
    Patience.eventually(() -> !ActorInternals.hasDueTimer(actor, System.nanoTime()));
  }

  @Promise("12.7")
  @Test
  void periodicTimerContinuesAfterMemoryWasExhausted() {
    var letters = new RecordedLetters();
    var scope = new ExhaustedScope(Variants.scope(o -> o.withDeadLetterListener(letters)));
    var handled = new CountDownLatch(2);
    var actor = DefaultActorBuilder.of(scope).newActor((Object m) -> handled.countDown());

    var timer = actor.sendMessageEvery("tick", Duration.ofMillis(1));

    Patience.await(handled);
    timer.cancel();
    Patience.eventually(() -> letters.messages(Reason.UNDELIVERED).equals(List.of("tick")));
  }

  @Test
  void actorForgetsTimerThatFiredBeforeItWasRegistered() {
    var handled = new AtomicInteger();
    var scope = Variants.scope(o -> o.withScheduler(new Clock() {
      @Override
      public Timer schedule(Duration delay, Runnable task) {
        task.run();
        return () -> false;
      }
    }));
    var actor = scope.named("eager").newActor((Object m) -> handled.incrementAndGet());

    actor.sendMessageLater("at once", SECOND);

    Patience.eventually(() -> handled.get() == 1);
    Patience.eventually(() -> ActorInternals.isQuiet(actor));
    assertEquals(false, ActorInternals.hasDueTimer(actor, Long.MAX_VALUE / 2));
  }
}
