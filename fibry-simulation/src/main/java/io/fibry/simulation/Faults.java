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
 * Injects the faults that a program asks for, from the call that asks for a fault until
 * {@link #stop}, or until the program returns. In each run, chance disables about half of the kinds
 * of faults, so that there are runs with a single kind. After {@link #withAllKinds}, no further
 * kind is disabled. Only threads of the simulation may use it.
 */
public final class Faults {

  /** @param max the largest amount that is drawn: nanoseconds, or the capacity of a mailbox */
  private record FaultOdds(double probability, long max) {}

  private final Map<FaultKind, SplittableRandom> randoms = new EnumMap<>(FaultKind.class);
  private final Map<FaultKind, FaultOdds> odds = new EnumMap<>(FaultKind.class);
  private final Set<FaultKind> disabledKinds; // kinds that the replay leaves out
  private final Set<FaultKind> struckKinds = EnumSet.noneOf(FaultKind.class);
  private final SplittableRandom kindRandom; // decides which kinds this run has
  // The actors to which messages were sent, for kills.
  private final Map<Actor<?>, FailureDomain> knownActors = new LinkedHashMap<>();
  private Predicate<Actor<?>> mayKill = actor -> false;
  private boolean hasAllKinds;

  Faults(SplittableRandom random, Set<FaultKind> disabledKinds) {
    for (var fault : FaultKind.values()) randoms.put(fault, random.split());
    this.kindRandom = random.split();
    this.disabledKinds = disabledKinds;
  }

  // ---- called by the program

  /**
   * Enables all kinds of faults that are asked for after this call, in each run.
   *
   * @return this
   */
  public Faults withAllKinds() {
    hasAllKinds = true;
    return this;
  }

  /**
   * Kills a random actor when a message is sent. Only actors to which a message was sent are
   * killed.
   *
   * @param probability of a kill at each send
   * @param mayKill returns whether an actor may be killed
   * @return this
   */
  public Faults withKills(double probability, Predicate<Actor<?>> mayKill) {
    this.mayKill = Objects.requireNonNull(mayKill, "mayKill");
    return enable(FaultKind.KILLS, probability, 1);
  }

  /**
   * Delays a thread that could run. The thread handles its messages later, but the messages of one
   * sender keep their order.
   *
   * @param probability of a delay each time a thread becomes ready
   * @param max the longest delay
   * @return this
   */
  public Faults withDelays(double probability, Duration max) {
    return enable(FaultKind.DELAYS, probability, nanos(max));
  }

  /**
   * Lets time pass although threads could run, as on a machine that is suspended.
   *
   * @param probability of a stall at each step
   * @param max the longest stall
   * @return this
   */
  public Faults withStalls(double probability, Duration max) {
    return enable(FaultKind.STALLS, probability, nanos(max));
  }

  /**
   * Lets clocks jump: all clocks ahead, or only the wall clock, ahead or back.
   *
   * @param probability of a jump at each step
   * @param max the longest jump
   * @return this
   */
  public Faults withClockJumps(double probability, Duration max) {
    return enable(FaultKind.JUMPS, probability, nanos(max));
  }

  /**
   * Lets the start of a thread for an actor fail.
   *
   * @param probability of a failure at each start
   * @return this
   */
  public Faults withFailedThreadStarts(double probability) {
    return enable(FaultKind.THREADS, probability, 1);
  }

  /**
   * Makes bounded mailboxes smaller than the program asked for: with a capacity of 1 to 3 messages.
   *
   * @param probability of a smaller mailbox at each call of {@code Mailbox.bounded}
   * @return this
   */
  public Faults withSmallMailboxes(double probability) {
    return enable(FaultKind.MAILBOXES, probability, 3);
  }

  /** Stops all faults. */
  public void stop() {
    odds.clear();
  }

  Faults enable(FaultKind fault, double probability, long max) {
    if (!(probability >= 0 && probability <= 1)) throw new IllegalArgumentException(
        "a probability of " + probability + " for " + fault.label() + "; give one from 0 to 1");
    boolean isEnabled = kindRandom.nextBoolean() || hasAllKinds;
    if (isEnabled) odds.put(fault, new FaultOdds(probability, max));
    return this;
  }

  private static long nanos(Duration max) {
    if (!max.isPositive()) throw new IllegalArgumentException("a fault of at most " + max + "; give more than zero");
    return SimulatedClock.nanos(max);
  }

  // ---- called by the run

  /** Returns whether this run has the kind of fault. */
  boolean mayStrike(FaultKind fault) {
    return odds.containsKey(fault);
  }

  /** Decides by chance whether a fault strikes now, and returns whether it does. */
  boolean tryStrike(FaultKind fault) {
    var faultOdds = odds.get(fault);
    if (faultOdds == null || randoms.get(fault).nextDouble() >= faultOdds.probability || disabledKinds.contains(fault))
      return false;
    struckKinds.add(fault);
    return true;
  }

  /** Lets all clocks jump, or only the wall clock, if the fault strikes. */
  void jump(SimulatedClock clock) {
    if (!tryStrike(FaultKind.JUMPS)) return;
    long nanos = drawAmount(FaultKind.JUMPS);
    switch ((int) draw(FaultKind.JUMPS, 3)) {
      case 0 -> clock.advanceByFault(nanos, 0);
      case 1 -> clock.advanceByFault(0, nanos / 1_000_000);
      default -> clock.advanceByFault(0, -nanos / 1_000_000);
    }
  }

  /** Draws an amount from 1 to the maximum that the program gave for this kind. */
  long drawAmount(FaultKind fault) {
    return 1 + randoms.get(fault).nextLong(odds.get(fault).max);
  }

  /** Draws a number from 0 to {@code max - 1}, even if the fault was not asked for. */
  long draw(FaultKind fault, long max) {
    return randoms.get(fault).nextLong(max);
  }

  Set<FaultKind> struckKinds() {
    return struckKinds;
  }

  /** Returns a random actor that may be killed, or null if there is none. */
  Actor<?> victim() {
    List<Actor<?>> candidates = new ArrayList<>(knownActors.keySet());
    candidates.removeIf(actor -> knownActors.get(actor).isCrashed || !mayKill.test(actor));
    return candidates.isEmpty() ? null : candidates.get((int) draw(FaultKind.KILLS, candidates.size()));
  }

  void noteSend(Actor<?> actor, FailureDomain domain) {
    knownActors.put(actor, domain);
  }
}
