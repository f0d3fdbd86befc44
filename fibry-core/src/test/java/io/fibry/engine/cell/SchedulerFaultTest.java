package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.Clock;
import io.fibry.ExitReason;
import io.fibry.Gate;
import io.fibry.Promise;
import io.fibry.Variants;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A user's scheduler that works under a lock, or runs due tasks immediately. */
class SchedulerFaultTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  /** A call that makes the engine set a timer. */
  private interface Step {
    void take(Actor<Object> actor);
  }

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  private static Stream<Arguments> steps() {
    Step later = actor -> actor.sendMessageLater("later", SECOND);
    Step every = actor -> actor.sendMessageEvery("every", SECOND);
    Step kill = Actor::kill;
    return Stream.of(Arguments.of("sendMessageLater", later), Arguments.of("sendMessageEvery", every),
        Arguments.of("kill", kill));
  }

  /** A thread that holds the scheduler's lock may ask about the actor. */
  @Promise("12.5")
  @ParameterizedTest(name = "{0}")
  @MethodSource("steps")
  void actorHoldsNoMonitorWhileSchedulerIsCalled(String name, Step step) {
    var lock = new Object();
    var called = new CountDownLatch(1);
    var told = new CompletableFuture<ExitReason>();
    var actor = Variants.scope(o -> o.withScheduler(new Clock() {
      @Override
      public Timer schedule(Duration delay, Runnable task) {
        called.countDown();
        synchronized (lock) {
          return super.schedule(delay, task);
        }
      }

      @Override
      public Timer scheduleAtFixedRate(Duration initial, Duration period, Runnable task) {
        return schedule(initial, task);
      }
    })).anonymous().newActor((Object m) -> {
      if (m instanceof Gate gate) gate.passDeaf();
    });
    Gate.occupy(actor);

    Thread.ofPlatform().daemon().start(() -> {
      synchronized (lock) {
        Thread.ofPlatform().daemon().start(() -> step.take(actor));
        Patience.await(called);
        told.complete(((Cell) actor).extras().reason());
      }
    });

    Patience.value(told);
  }

  @Test
  void timerThatFiresBeforeRegistrationIsNotKept() {
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
    Patience.eventually(() -> Inside.isQuiet(actor));
    assertEquals(false, Inside.hasDueTimer(actor, Long.MAX_VALUE / 2));
  }
}
