package io.fibry.engine.actor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Schedules;
import io.fibry.Strategy;
import io.fibry.engine.scope.CheckedActor;
import io.fibry.mailbox.Mailbox;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests strategies that throw, that accept an activation and then throw, or that run an activation
 * twice. Every message must nevertheless be handled once, by one thread at a time. The tests call
 * {@code rescue} where the engine would use a timer.
 */
@Tag("lincheck")
class DispatchTest {
  private static final int SCHEDULES = 30;

  /** Passes the first activation to another strategy, and runs all others at once. */
  private static final class FirstActivation implements Strategy {
    private final Strategy strategy;
    final AtomicReference<Runnable> firstActivation = new AtomicReference<>();

    FirstActivation(Strategy strategy) {
      this.strategy = strategy;
    }

    @Override
    public void activate(Runnable activation) {
      if (firstActivation.compareAndSet(null, activation)) strategy.activate(activation);
      else activation.run();
    }
  }

  /** Returns a strategy that refuses the first activation. */
  private static FirstActivation refusingStrategy() {
    return new FirstActivation(activation -> {
      throw new Refusal();
    });
  }

  private static CheckedActor actorWithoutTimers(Strategy strategy) {
    return new CheckedActor(strategy, Mailbox.unbounded(), new NoTimers(), (actor, message) -> {});
  }

  private static final class Refusal extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  @Test
  void activationRunTwiceHandlesEachMessageOnce() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var secondThread = new AtomicReference<Thread>();
      var checkedActor = new CheckedActor(new FirstActivation(activation -> {
        secondThread.set(Schedules.start(activation));
        activation.run();
      }), Mailbox.unbounded());

      var sender = Schedules.start(() -> checkedActor.send(1));
      checkedActor.send(0);
      Schedules.join(sender);
      if (secondThread.get() != null) Schedules.join(secondThread.get());

      checkedActor.check();
    });
  }

  @Test
  void messagesAreHandledOnceThoughStrategyThrowsAfterStart() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var worker = new AtomicReference<Thread>();
      var strategy = new FirstActivation(activation -> {
        worker.set(Schedules.start(activation));
        throw new Refusal();
      });
      var checkedActor = actorWithoutTimers(strategy);

      checkedActor.send(0);
      var sender = Schedules.start(() -> checkedActor.send(1));
      checkedActor.cell.rescue();
      Schedules.join(sender, worker.get());

      checkedActor.check();
    });
  }

  @Test
  void refusedActivationKeepsRightToRunUntilRetry() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var strategy = refusingStrategy();
      var checkedActor = actorWithoutTimers(strategy);

      checkedActor.send(0);
      var sender = Schedules.start(() -> checkedActor.send(1));
      strategy.firstActivation.get().run(); // has no effect, because the refusal has stranded the right to run
      checkedActor.cell.rescue();
      Schedules.join(sender);

      checkedActor.check();
      assertEquals(2, checkedActor.handled());
    });
  }

  @Test
  void oneSenderTakesStrandedRightToRun() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var checkedActor = actorWithoutTimers(refusingStrategy());

      var first = Schedules.start(() -> checkedActor.send(0));
      var second = Schedules.start(() -> checkedActor.send(1));
      Schedules.join(first, second);
      checkedActor.send(2);

      checkedActor.check();
    });
  }

  @Test
  void strandedActorIsDrainedByOnlyOneOfTwoSenders() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var checkedActor = actorWithoutTimers(refusingStrategy());
      checkedActor.send(0);

      var first = Schedules.start(() -> checkedActor.send(1));
      checkedActor.send(2);
      Schedules.join(first);

      checkedActor.check();
      assertEquals(3, checkedActor.handled());
    });
  }

  @Test
  void strandedActorExitsWhenAsked() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var checkedActor = actorWithoutTimers(refusingStrategy());
      checkedActor.cell.closeOnExit(checkedActor::hook);
      checkedActor.send(0);

      var sender = Schedules.start(() -> checkedActor.send(1));
      checkedActor.cell.askExit();
      Schedules.join(sender);
      checkedActor.awaitExit();

      checkedActor.check();
      assertEquals(1, checkedActor.hookRuns);
    });
  }

  /** A scheduler that fails, so that only the next sender can run a stranded actor. */
  private static final class NoTimers extends CheckedActor.NeverFiringScheduler {
    @Override
    public Timer schedule(Duration delay, Runnable task) {
      throw new IllegalStateException("planned");
    }
  }
}
