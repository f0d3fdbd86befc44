package io.fibry.engine.cell;

import static io.fibry.support.Patience.await;
import static io.fibry.support.Patience.awaitEnd;
import static io.fibry.support.Patience.failure;
import static io.fibry.support.Patience.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorWithReturn;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Variants;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests that an actor ends even if its handler, resource, hook, timer or strategy hangs or fails.
 * Most tests end it by a kill.
 */
class CutOffFaultTest {
  private final ExecutorService oneThread = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());

  @AfterEach
  void tidyUp() {
    Gate.openAll();
    oneThread.shutdown();
  }

  @Test
  void killEndsActorWhoseResourceCloseHangs() {
    var closeGate = new Gate();
    var actor = scopeWithShortGrace().anonymous().newActor((Object message) -> {});
    actor.closeOnExit(closeGate::passUninterruptibly);
    actor.askExit();
    await(closeGate.entered);

    actor.kill();

    awaitEnd(actor::waitForExit);
  }

  @Test
  void killEndsActorWhoseResourceNeedsHandlersLock() {
    var lock = new ReentrantLock();
    var actor = lockingActor(lock);
    actor.closeOnExit(lock::lock);
    Gate.occupy(actor);

    actor.kill();

    awaitEnd(actor::waitForExit);
  }

  @Test
  void killFailsRequestsWhenResourceNeedsHandlersLock() {
    var lock = new ReentrantLock();
    var actor = lockingActor(lock);
    actor.closeOnExit(lock::lock);
    Gate.occupy(actor);
    var queuedRequest = actor.sendMessageReturn("waiting");

    actor.kill();

    assertInstanceOf(ActorStoppedException.class, failure(queuedRequest));
  }

  /**
   * When the actor has been cut off, the next call of its context throws in the handler, perhaps
   * before the asker's request fails. The asker must get the cut-off, and not this exception.
   */
  @Test
  void askerOfCutOffActorGetsStoppedException() {
    record Question() implements Request<Question, Integer> {}
    var scope = Variants.scope(o -> o.withKillGrace(Duration.ZERO));
    for (int i = 0; i < 500; i++) {
      var handlerBegun = new CountDownLatch(1);
      Actor<Question> actor = scope.anonymous().newActor((Question question, ActorContext<Question> context) -> {
        handlerBegun.countDown();
        while (true) context.self();
      });
      var answer = actor.sendMessageReturn(new Question());
      await(handlerBegun);

      actor.kill();

      assertInstanceOf(ActorStoppedException.class, failure(answer));
    }
  }

  private static ActorWithReturn<Object, Integer> lockingActor(ReentrantLock lock) {
    return scopeWithShortGrace().anonymous().newActorWithReturn((Object message) -> {
      lock.lock();
      if (message instanceof Gate gate) gate.passUninterruptibly();
      lock.unlock();
      return 1;
    });
  }

  @Test
  void killEndsActorWhoseResourceClosesActor() {
    var actor = scopeWithShortGrace().anonymous().newActor((Object message) -> {
      if (message instanceof Gate gate) gate.passUninterruptibly();
    });
    actor.closeOnExit(actor::close);
    Gate.occupy(actor);

    actor.kill();

    awaitEnd(actor::waitForExit);
  }

  @Test
  void actorEndsAlthoughCancelOfItsTimerThrows() {
    var scope = Variants.scope(o -> o.withScheduler(new UncancellableTimers()));
    var actor = scope.anonymous().newActor((Object message) -> {});
    actor.sendMessageLater("late", Duration.ofHours(1));

    actor.askExit();

    awaitEnd(actor::waitForExit);
  }

  @Test
  void killFailsRequestsOfResidentActorWithoutThread() {
    var gate = new Gate();
    oneThread.execute(gate::passUninterruptibly);
    var actor = scopeWithShortGrace().anonymous().strategy(residentStrategy())
        .newActorWithReturn((Object message) -> 1);
    var queuedRequest = actor.sendMessageReturn("waiting");

    actor.kill();

    assertInstanceOf(ActorStoppedException.class, failure(queuedRequest));
  }

  @Test
  void askOnThreadOfEndedResidentActorThrowsStoppedException() {
    var actor = scopeWithShortGrace().anonymous().strategy(residentStrategy())
        .newActorWithReturn((Object message) -> 1);
    actor.ask("once");
    actor.askExit();
    awaitEnd(actor::waitForExit);

    var lateAnswer = CompletableFuture.supplyAsync(() -> actor.ask("later"), oneThread);

    assertInstanceOf(ActorStoppedException.class, failure(lateAnswer));
  }

  @Test
  void killDuringStopHookInterruptsHook() {
    assertEquals(Optional.of(true), isHookInterrupted(Patience::await));
    int hooksNotInterrupted = 0;
    for (int i = 0; i < 300; i++) {
      int nanos = i * 300 % 100_000;
      var isInterrupted = isHookInterrupted(hookBegun -> {
        for (long deadline = System.nanoTime() + nanos; System.nanoTime() < deadline;) Thread.onSpinWait();
      });
      if (isInterrupted.equals(Optional.of(false))) hooksNotInterrupted++;
    }

    assertTrue(hooksNotInterrupted == 0, hooksNotInterrupted + " of 300 hooks were not interrupted");
  }

  /**
   * Kills an actor after its pill, and returns whether that interrupted its hook. Returns an empty
   * value if the drain had not taken the pill before the kill.
   *
   * @param waitBeforeKill gets the latch that the hook counts down when it begins
   */
  private static Optional<Boolean> isHookInterrupted(Consumer<CountDownLatch> waitBeforeKill) {
    var hookBegun = new CountDownLatch(1);
    var interrupted = new CompletableFuture<Boolean>();
    var killSent = new CountDownLatch(1);
    var actor =
        Variants.scope(o -> o.withKillGrace(Patience.LONG)).anonymous().initialState(Object::new).onStop(state -> {
          hookBegun.countDown();
          Patience.eventually(() -> killSent.getCount() == 0);
          interrupted.complete(Thread.interrupted());
        }).newActor((Object state, Object message) -> {});
    actor.sendMessage(1);
    actor.sendPoisonPill();
    waitBeforeKill.accept(hookBegun);
    boolean isLeaving = ActorInternals.phase(actor).equals("LEAVING");

    actor.kill();
    killSent.countDown();

    awaitEnd(actor::waitForExit);
    return isLeaving ? Optional.of(value(interrupted)) : Optional.empty();
  }

  private static ActorScope scopeWithShortGrace() {
    return Variants.scope(o -> o.withKillGrace(Duration.ofMillis(10)));
  }

  private Strategy residentStrategy() {
    return new Strategy() {
      @Override
      public void activate(Runnable activation) {
        oneThread.execute(activation);
      }

      @Override
      public boolean isResident() {
        return true;
      }
    };
  }

  private static final class UncancellableTimers implements Scheduler {
    private final Scheduler system = Scheduler.system();

    @Override
    public long nanoTime() {
      return system.nanoTime();
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      return uncancellable(system.schedule(delay, task));
    }

    @Override
    public Timer scheduleAtFixedRate(Duration initial, Duration period, Runnable task) {
      return uncancellable(system.scheduleAtFixedRate(initial, period, task));
    }

    @Override
    public Timer scheduleWithFixedDelay(Duration initial, Duration delay, Runnable task) {
      return uncancellable(system.scheduleWithFixedDelay(initial, delay, task));
    }

    private static Timer uncancellable(Timer timer) {
      return () -> {
        throw new IllegalStateException(timer + " cannot be cancelled");
      };
    }
  }
}
