package io.fibry.simulation;

import io.fibry.Actor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Predicate;

/**
 * Injects faults from now on until {@link #stop}, and at the latest until the program returns. A
 * kind of fault that a program asks for strikes in every other run only, so that there are runs
 * with one kind alone. After {@link #always} it strikes in every run. For threads of the
 * simulation.
 */
public final class Faults {

  /** @param max of what is drawn, in nanoseconds */
  private record FaultOdds(double probability, long max) {}

  private final Map<FaultKind, SplittableRandom> chances = new EnumMap<>(FaultKind.class);
  private final Map<FaultKind, FaultOdds> odds = new EnumMap<>(FaultKind.class);
  private final Set<FaultKind> disabled; // of the run: do not strike
  private final Set<FaultKind> struck = EnumSet.noneOf(FaultKind.class);
  private final SplittableRandom kinds; // which of them this run has
  // Whom messages were sent to, for kills.
  private final Map<Actor<?>, FailureDomain> knownActors = new LinkedHashMap<>();
  private Predicate<Actor<?>> victims = actor -> false;
  private boolean always;

  Faults(SplittableRandom chance, Set<FaultKind> disabled) {
    for (var fault : FaultKind.values()) chances.put(fault, chance.split());
    this.kinds = chance.split();
    this.disabled = disabled;
  }

  // ---- what a program asks for

  /**
   * Lets all faults that are asked for from now on strike in each run.
   *
   * @return this
   */
  public Faults withAllKinds() {
    always = true;
    return this;
  }

  /**
   * Kills an actor when a message is sent: an actor to which a message was sent before.
   *
   * @param probability of each sending
   * @param whom may be killed
   * @return this
   */
  public Faults withKills(double probability, Predicate<Actor<?>> whom) {
    this.victims = Objects.requireNonNull(whom, "whom");
    return enable(FaultKind.KILLS, probability, 1);
  }

  /**
   * Holds back a thread that could run: its message is late, and the order of a sender's messages
   * stays.
   *
   * @param probability of each time that a thread becomes ready
   * @param max time
   * @return this
   */
  public Faults withDelays(double probability, Duration max) {
    return enable(FaultKind.DELAYS, probability, nanos(max));
  }

  /**
   * Lets time pass although threads could run, as on a machine that is suspended.
   *
   * @param probability of each step
   * @param max time
   * @return this
   */
  public Faults withStalls(double probability, Duration max) {
    return enable(FaultKind.STALLS, probability, nanos(max));
  }

  /**
   * Lets clocks jump: all of them ahead, or the wall clock alone, ahead or back.
   *
   * @param probability of each step
   * @param max time
   * @return this
   */
  public Faults withClockJumps(double probability, Duration max) {
    return enable(FaultKind.JUMPS, probability, nanos(max));
  }

  /**
   * Lets a strategy get no thread for its actor.
   *
   * @param probability of each start
   * @return this
   */
  public Faults withFailedThreadStarts(double probability) {
    return enable(FaultKind.THREADS, probability, 1);
  }

  /**
   * Makes bounded mailboxes of the program smaller than it said: room for 1 to 3.
   *
   * @param probability of each call of {@code Mailbox.bounded}
   * @return this
   */
  public Faults withSmallMailboxes(double probability) {
    return enable(FaultKind.MAILBOXES, probability, 3);
  }

  /** Ends all of them. */
  public void stop() {
    odds.clear();
  }

  Faults enable(FaultKind fault, double probability, long max) {
    if (!(probability >= 0 && probability <= 1)) throw new IllegalArgumentException(
        "a probability of " + probability + " for " + fault.label() + "; give one from 0 to 1");
    boolean chosen = kinds.nextBoolean() || always;
    if (chosen) odds.put(fault, new FaultOdds(probability, max));
    return this;
  }

  private static long nanos(Duration max) {
    if (!max.isPositive()) throw new IllegalArgumentException("at most " + max + "; give more than zero");
    return SimulatedClock.nanos(max);
  }

  // ---- what a run asks

  boolean mayStrike(FaultKind fault) {
    return odds.containsKey(fault);
  }

  boolean tryStrike(FaultKind fault) {
    var asked = odds.get(fault);
    if (asked == null || chances.get(fault).nextDouble() >= asked.probability || disabled.contains(fault)) return false;
    struck.add(fault);
    return true;
  }

  /** Perhaps all clocks, or the wall clock alone. */
  void jump(SimulatedClock clock) {
    if (!tryStrike(FaultKind.JUMPS)) return;
    long nanos = drawAmount(FaultKind.JUMPS);
    switch ((int) draw(FaultKind.JUMPS, 3)) {
      case 0 -> clock.jump(nanos, 0);
      case 1 -> clock.jump(0, nanos / 1_000_000);
      default -> clock.jump(0, -nanos / 1_000_000);
    }
  }

  /** Draws a number from one to the most that the program allowed. */
  long drawAmount(FaultKind fault) {
    return 1 + chances.get(fault).nextLong(odds.get(fault).max);
  }

  /**
   * Draws a number from zero up to, but not including, {@code max}, even if the fault was not
   * asked for.
   */
  long draw(FaultKind fault, long max) {
    return chances.get(fault).nextLong(max);
  }

  Set<FaultKind> struck() {
    return struck;
  }

  /** Null: nobody. */
  Actor<?> victim() {
    List<Actor<?>> some = new ArrayList<>(knownActors.keySet());
    some.removeIf(actor -> knownActors.get(actor).crashed || !victims.test(actor));
    return some.isEmpty() ? null : some.get((int) draw(FaultKind.KILLS, some.size()));
  }

  void noteSend(Actor<?> actor, FailureDomain at) {
    knownActors.put(actor, at);
  }
}
