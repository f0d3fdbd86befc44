package io.fibry;

import static io.fibry.support.Patience.await;
import static io.fibry.support.Patience.ended;
import static io.fibry.support.Patience.failure;
import static io.fibry.support.Patience.value;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.engine.cell.Inside;
import io.fibry.support.Patience;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A kill ends an actor whatever its handler, resources, hooks, timers and strategy do. */
class CutOffFaultTest {
  private final ExecutorService oneThread = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());

  @AfterEach
  void tidyUp() {
    Gate.openAll();
    oneThread.shutdown();
  }

  @Test
  void killEndsActorWhoseResourceCloseHangs() {
    var close = new Gate();
    var actor = impatient().anonymous().newActor((Object message) -> {});
    actor.closeOnExit(close::passDeaf);
    actor.askExit();
    await(close.entered);

    actor.kill();

    ended(actor::waitForExit);
  }

  @Test
  void killEndsActorWhoseResourceNeedsHandlersLock() {
    var lock = new ReentrantLock();
    var actor = holding(lock);
    actor.closeOnExit(lock::lock);
    Gate.occupy(actor);

    actor.kill();

    ended(actor::waitForExit);
  }

  @Test
  void killFailsRequestsWhenResourceNeedsHandlersLock() {
    var lock = new ReentrantLock();
    var actor = holding(lock);
    actor.closeOnExit(lock::lock);
    Gate.occupy(actor);
    var waiting = actor.sendMessageReturn("waiting");

    actor.kill();

    assertInstanceOf(ActorStoppedException.class, failure(waiting));
  }

  /** The context throws as soon as the actor is cut off, perhaps before its asker is told. */
  @Test
  void askerGetsCutOffInsteadOfLaterHandlerException() {
    record Question() implements Request<Question, Integer> {}
    var scope = Variants.scope(o -> o.withKillGrace(Duration.ZERO));
    for (int i = 0; i < 500; i++) {
      var begun = new CountDownLatch(1);
      Actor<Question> actor = scope.anonymous().newActor((Question question, ActorContext<Question> context) -> {
        begun.countDown();
        while (true) context.self();
      });
      var answer = actor.sendMessageReturn(new Question());
      await(begun);

      actor.kill();

      assertInstanceOf(ActorStoppedException.class, failure(answer));
    }
  }

  private static ActorWithReturn<Object, Integer> holding(ReentrantLock lock) {
    return impatient().anonymous().newActorWithReturn((Object message) -> {
      lock.lock();
      if (message instanceof Gate gate) gate.passDeaf();
      lock.unlock();
      return 1;
    });
  }

  @Test
  void killEndsActorWhoseResourceClosesActor() {
    var actor = impatient().anonymous().newActor((Object message) -> {
      if (message instanceof Gate gate) gate.passDeaf();
    });
    actor.closeOnExit(actor::close);
    Gate.occupy(actor);

    actor.kill();

    ended(actor::waitForExit);
  }

  @Test
  void actorEndsWhenTimerCancelThrows() {
    var scope = Variants.scope(o -> o.withScheduler(new Stubborn()));
    var actor = scope.anonymous().newActor((Object message) -> {});
    actor.sendMessageLater("late", Duration.ofHours(1));

    actor.askExit();

    ended(actor::waitForExit);
  }

  @Test
  void killFailsRequestsOfResidentActorWithoutThread() {
    var gate = new Gate();
    oneThread.execute(gate::passDeaf);
    var actor = impatient().anonymous().strategy(resident()).newActorWithReturn((Object message) -> 1);
    var waiting = actor.sendMessageReturn("waiting");

    actor.kill();

    assertInstanceOf(ActorStoppedException.class, failure(waiting));
  }

  @Test
  void threadOfEndedResidentIsNotMistakenForActor() {
    var actor = impatient().anonymous().strategy(resident()).newActorWithReturn((Object message) -> 1);
    actor.ask("once");
    actor.askExit();
    ended(actor::waitForExit);

    var later = CompletableFuture.supplyAsync(() -> actor.ask("later"), oneThread);

    assertInstanceOf(ActorStoppedException.class, failure(later));
  }

  @Test
  void killDuringStopHookInterruptsHook() {
    int slept = 0;
    for (int i = 0; i < 300; i++) if (sleptOn(i * 300 % 100_000)) slept++;

    assertTrue(slept == 0, slept + " of 300 hooks slept on");
  }

  /** Whether a kill came after the pill and did not interrupt the hook. */
  private static boolean sleptOn(int nanos) {
    var interrupted = new CompletableFuture<Boolean>();
    var killed = new CountDownLatch(1);
    var actor =
        Variants.scope(o -> o.withKillGrace(Patience.LONG)).anonymous().initialState(Object::new).onStop(state -> {
          Patience.eventually(() -> killed.getCount() == 0);
          interrupted.complete(Thread.interrupted());
        }).newActor((Object state, Object message) -> {});
    actor.sendMessage(1);
    actor.sendPoisonPill();
    for (long end = System.nanoTime() + nanos; System.nanoTime() < end;) Thread.onSpinWait();
    boolean past = Inside.phase(actor).equals("LEAVING");

    actor.kill();
    killed.countDown();

    ended(actor::waitForExit);
    return past && !value(interrupted);
  }

  private static ActorScope impatient() {
    return Variants.scope(o -> o.withKillGrace(Duration.ofMillis(10)));
  }

  private Strategy resident() {
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

  private static final class Stubborn implements Scheduler {
    private final Scheduler system = Scheduler.system();

    @Override
    public long nanoTime() {
      return system.nanoTime();
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      return stubborn(system.schedule(delay, task));
    }

    @Override
    public Timer scheduleAtFixedRate(Duration initial, Duration period, Runnable task) {
      return stubborn(system.scheduleAtFixedRate(initial, period, task));
    }

    @Override
    public Timer scheduleWithFixedDelay(Duration initial, Duration delay, Runnable task) {
      return stubborn(system.scheduleWithFixedDelay(initial, delay, task));
    }

    private static Timer stubborn(Timer timer) {
      return () -> {
        throw new IllegalStateException(timer + " goes on");
      };
    }
  }
}
