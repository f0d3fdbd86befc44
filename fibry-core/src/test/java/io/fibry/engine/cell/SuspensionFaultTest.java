package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** Tests suspended actors with a scheduler that fails or uses a lock. */
class SuspensionFaultTest {
  private final CompletableFuture<Object> handled = new CompletableFuture<>();

  private Actor<Object> actor(Scheduler clock) {
    var second = Duration.ofSeconds(1);
    var policy = FailurePolicy.restart().withBackoff(second, second).withoutLog();
    return Variants.scope(o -> o.withScheduler(clock)).anonymous().onFailure(policy).newActor((Object m) -> {
      if (m instanceof RuntimeException failure) throw failure;
      handled.complete(m);
    });
  }

  @Promise("12.5")
  @Test
  void failedCancelOfBackoffTimerLosesNoMessage() {
    var clock = new Clock() {
      @Override
      public Timer schedule(Duration delay, Runnable task) {
        super.schedule(delay, task);
        return () -> {
          throw new IllegalStateException("planned");
        };
      }
    };
    var actor = actor(clock);
    actor.sendMessage(new IllegalStateException("planned"));
    Patience.eventually(() -> ActorInternals.isSuspended(actor));
    actor.sendMessage("next");

    clock.manual.advance(Duration.ofSeconds(1));

    assertEquals("next", Patience.value(handled));
  }

  @Promise("12.5")
  @Test
  void failedCancelOfBackoffTimerDoesNotPreventEnd() {
    var clock = new Clock() {
      @Override
      public Timer schedule(Duration delay, Runnable task) {
        return () -> {
          throw new IllegalStateException("planned");
        };
      }
    };
    var actor = actor(clock);
    actor.sendMessage(new IllegalStateException("planned"));
    Patience.eventually(() -> ActorInternals.isSuspended(actor));

    actor.askExit();

    Patience.awaitEnd(actor::waitForExit);
  }

  @Test
  void failedScheduleOfBackoffTimerLosesNoMessage() {
    var clock = new Clock() {
      private int failuresLeft = 1;

      @Override
      public Timer schedule(Duration delay, Runnable task) {
        if (failuresLeft-- > 0) throw new RejectedExecutionException("planned");
        return Scheduler.system().schedule(delay, task);
      }
    };
    var actor = actor(clock);

    actor.sendMessage(new IllegalStateException("planned"));
    actor.sendMessage("next");

    assertEquals("next", Patience.value(handled));
  }

  /**
   * If the actor held its monitor while it calls the scheduler, a thread that has the scheduler's
   * lock and reads the actor's state would deadlock.
   */
  @Test
  void actorHoldsNoMonitorWhileItCallsScheduler() {
    var lock = new Object();
    var scheduleCalled = new CountDownLatch(1);
    var reason = new CompletableFuture<ExitReason>();
    var clock = new Clock() {
      @Override
      public Timer schedule(Duration delay, Runnable task) {
        scheduleCalled.countDown();
        synchronized (lock) {
          return super.schedule(delay, task);
        }
      }
    };
    var actor = actor(clock);

    Thread.ofPlatform().daemon().start(() -> {
      synchronized (lock) {
        actor.sendMessage(new IllegalStateException("planned"));
        Patience.await(scheduleCalled);
        reason.complete(((Cell) actor).extras().reason());
      }
    });

    Patience.value(reason);
  }
}
