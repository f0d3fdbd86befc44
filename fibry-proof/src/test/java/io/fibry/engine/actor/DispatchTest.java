package io.fibry.engine.actor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Schedules;
import io.fibry.Strategy;
import io.fibry.engine.scope.Witness;
import io.fibry.mailbox.Mailbox;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Strategies that throw, accept and then throw, or run an activation twice. Every message is still
 * handled once, by one thread at a time. The tests call {@code rescue} where the engine would use a
 * timer.
 */
@Tag("lincheck")
class DispatchTest {
  private static final int SCHEDULES = 30;

  /** Passes the first activation to another strategy, runs the others at once. */
  private static final class First implements Strategy {
    private final Strategy first;
    final AtomicReference<Runnable> taken = new AtomicReference<>();

    First(Strategy first) {
      this.first = first;
    }

    @Override
    public void activate(Runnable activation) {
      if (taken.compareAndSet(null, activation)) first.activate(activation);
      else activation.run();
    }
  }

  /** Refuses the first activation. */
  private static First refusing() {
    return new First(activation -> {
      throw new Refusal();
    });
  }

  private static Witness withoutTimers(Strategy strategy) {
    return new Witness(strategy, Mailbox.unbounded(), new NoTimers(), (actor, message) -> {});
  }

  private static final class Refusal extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  @Test
  void anActivationRunTwiceWorksOnce() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var again = new AtomicReference<Thread>();
      var witness = new Witness(new First(activation -> {
        again.set(Schedules.start(activation));
        activation.run();
      }), Mailbox.unbounded());

      var other = Schedules.start(() -> witness.send(1));
      witness.send(0);
      Schedules.join(other);
      if (again.get() != null) Schedules.join(again.get());

      witness.check();
    });
  }

  @Test
  void activationAcceptedByFailingStrategyWorksOnce() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var worker = new AtomicReference<Thread>();
      var strategy = new First(activation -> {
        worker.set(Schedules.start(activation));
        throw new Refusal();
      });
      var witness = withoutTimers(strategy);

      witness.send(0);
      var other = Schedules.start(() -> witness.send(1));
      witness.cell.rescue();
      Schedules.join(other, worker.get());

      witness.check();
    });
  }

  @Test
  void aRefusedActivationKeepsTheRightToRunUntilHandedOutAgain() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var strategy = refusing();
      var witness = withoutTimers(strategy);

      witness.send(0);
      var other = Schedules.start(() -> witness.send(1));
      strategy.taken.get().run(); // late, and for nothing: its right to run is stranded
      witness.cell.rescue();
      Schedules.join(other);

      witness.check();
      assertEquals(2, witness.handled());
    });
  }

  @Test
  void strandedRightToRunIsTakenUpBySingleSender() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var witness = withoutTimers(refusing());

      var first = Schedules.start(() -> witness.send(0));
      var second = Schedules.start(() -> witness.send(1));
      Schedules.join(first, second);
      witness.send(2);

      witness.check();
    });
  }

  @Test
  void twoSendersThatFindStrandedActorDoNotBothRun() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var witness = withoutTimers(refusing());
      witness.send(0);

      var first = Schedules.start(() -> witness.send(1));
      witness.send(2);
      Schedules.join(first);

      witness.check();
      assertEquals(3, witness.handled());
    });
  }

  @Test
  void aStrandedActorEndsWhenAsked() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var witness = withoutTimers(refusing());
      witness.cell.closeOnExit(witness::hook);
      witness.send(0);

      var other = Schedules.start(() -> witness.send(1));
      witness.cell.askExit();
      Schedules.join(other);

      witness.check();
      assertEquals(1, witness.hooks);
    });
  }

  /** A scheduler that fails, so that only the next sender helps. */
  private static final class NoTimers extends Witness.Never {
    @Override
    public Timer schedule(Duration delay, Runnable task) {
      throw new IllegalStateException("planned");
    }
  }
}
