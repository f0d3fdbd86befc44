package io.fibry.simulation;

import io.fibry.Actor;
import io.fibry.simulation.run.FaultInjector;
import io.fibry.simulation.run.FaultKind;
import io.fibry.simulation.run.SimulatedClock;
import io.fibry.text.Durations;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Predicate;

/**
 * Injects the faults that a program asks for, from the call that asks for a fault until
 * {@link #stop}, or until the program returns. In each run, chance disables about half of the kinds
 * of faults, so that there are runs with a single kind. Kinds that are asked for after
 * {@link #withAllKinds} are enabled in each run. Only threads of the simulation may use it.
 */
public final class Faults {
  final FaultInjector injector;

  Faults(FaultInjector injector) {
    this.injector = injector;
  }

  /**
   * Enables all kinds of faults that are asked for after this call, in each run.
   *
   * @return this
   */
  public Faults withAllKinds() {
    injector.enableAllKinds();
    return this;
  }

  /**
   * Kills a random actor when a message is sent. Only actors to which a message was sent are
   * killed.
   *
   * @param probability the probability of a kill at each send
   * @param mayKill returns whether an actor may be killed
   * @return this
   */
  public Faults withKills(double probability, Predicate<Actor<?>> mayKill) {
    injector.setMayKill(Objects.requireNonNull(mayKill, "mayKill"));
    return enable(FaultKind.KILLS, probability, 1);
  }

  /**
   * Delays a thread that could run. The thread handles its messages later, but the messages of one
   * sender keep their order.
   *
   * @param probability the probability of a delay each time a thread becomes ready
   * @param max the longest delay
   * @return this
   */
  public Faults withDelays(double probability, Duration max) {
    return enable(FaultKind.DELAYS, probability, nanos(max));
  }

  /**
   * Lets time pass although threads could run, as on a machine that is suspended.
   *
   * @param probability the probability of a stall at each step
   * @param max the longest stall
   * @return this
   */
  public Faults withStalls(double probability, Duration max) {
    return enable(FaultKind.STALLS, probability, nanos(max));
  }

  /**
   * Lets clocks jump: all clocks ahead, or only the wall clock, ahead or back.
   *
   * @param probability the probability of a jump at each step
   * @param max the longest jump
   * @return this
   */
  public Faults withClockJumps(double probability, Duration max) {
    return enable(FaultKind.JUMPS, probability, nanos(max));
  }

  /**
   * Lets the start of a thread for an actor fail.
   *
   * @param probability the probability of a failure at each start
   * @return this
   */
  public Faults withFailedThreadStarts(double probability) {
    return enable(FaultKind.THREADS, probability, 1);
  }

  /**
   * Makes bounded mailboxes smaller than the program asked for: with a capacity of 1 to 3 messages.
   *
   * @param probability the probability of a smaller mailbox at each call of {@code Mailbox.bounded}
   * @return this
   */
  public Faults withSmallMailboxes(double probability) {
    return enable(FaultKind.MAILBOXES, probability, 3);
  }

  /** Stops all faults. */
  public void stop() {
    injector.stop();
  }

  private Faults enable(FaultKind fault, double probability, long max) {
    injector.enable(fault, probability, max);
    return this;
  }

  private static long nanos(Duration max) {
    if (!max.isPositive())
      throw new IllegalArgumentException(
          "a fault of at most " + Durations.text(max) + " has no effect; give more than zero");
    return SimulatedClock.nanos(max);
  }
}
