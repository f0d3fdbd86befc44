package io.fibry.simulation.run;

import io.fibry.Actor;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Predicate;

/** Decides by chance which faults strike in one run. Used by simulated threads and the carrier. */
public final class FaultInjector {

  /** @param max the largest amount that is drawn: nanoseconds, or the capacity of a mailbox */
  private record FaultOdds(double probability, long max) {}

  private final Map<FaultKind, SplittableRandom> randoms = new EnumMap<>(FaultKind.class);
  private final Map<FaultKind, FaultOdds> odds = new EnumMap<>(FaultKind.class);
  private final Set<FaultKind> disabledKinds; // kinds that the replay leaves out
  private final Set<FaultKind> struckKinds = EnumSet.noneOf(FaultKind.class);
  private final SplittableRandom kindRandom; // decides which kinds this run has
  // The actors to which messages were sent; a kill chooses one of them.
  private final Map<Actor<?>, FailureDomain> knownActors = new LinkedHashMap<>();
  private Predicate<Actor<?>> mayKill = actor -> false;
  private boolean hasAllKinds;

  public FaultInjector(SplittableRandom random, Set<FaultKind> disabledKinds) {
    for (var fault : FaultKind.values()) randoms.put(fault, random.split());
    this.kindRandom = random.split();
    this.disabledKinds = disabledKinds;
  }

  // ---- requests of the program

  /** Lets a kind of fault strike from now on, unless chance disables it in this run. */
  public void enable(FaultKind fault, double probability, long max) {
    if (!(probability >= 0 && probability <= 1)) throw new IllegalArgumentException(
        "a probability of " + probability + " for " + fault.label() + "; give a number from 0 to 1");
    boolean isEnabled = kindRandom.nextBoolean() || hasAllKinds;
    if (isEnabled) odds.put(fault, new FaultOdds(probability, max));
  }

  /** Enables all kinds of faults that are asked for after this call. */
  public void enableAllKinds() {
    hasAllKinds = true;
  }

  public void setMayKill(Predicate<Actor<?>> mayKillActor) {
    mayKill = mayKillActor;
  }

  /** Stops all faults. */
  public void stop() {
    odds.clear();
  }

  // ---- called by the run

  /** Returns whether this run has the kind of fault. */
  public boolean mayStrike(FaultKind fault) {
    return odds.containsKey(fault);
  }

  /** Decides by chance whether a fault strikes now, and returns whether it does. */
  public boolean tryStrike(FaultKind fault) {
    var faultOdds = odds.get(fault);
    if (faultOdds == null || randoms.get(fault).nextDouble() >= faultOdds.probability || disabledKinds.contains(fault))
      return false;
    struckKinds.add(fault);
    return true;
  }

  /** Decides by chance whether time passes up to the next timer although threads could run. */
  boolean shouldStall(SimulatedClock clock) {
    return mayStrike(FaultKind.STALLS) && clock.nanosUntilNext() >= 0 && tryStrike(FaultKind.STALLS)
        && clock.nanosUntilNext() <= drawAmount(FaultKind.STALLS);
  }

  /** Returns the capacity of a mailbox, which a fault may make smaller. */
  int limitedCapacity(int capacity) {
    return tryStrike(FaultKind.MAILBOXES) ? (int) Math.min(capacity, drawAmount(FaultKind.MAILBOXES)) : capacity;
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
  public long draw(FaultKind fault, long max) {
    return randoms.get(fault).nextLong(max);
  }

  public Set<FaultKind> struckKinds() {
    return struckKinds;
  }

  /** Returns a random actor that may be killed, or null if there is none. */
  Actor<?> drawVictim() {
    List<Actor<?>> candidates = new ArrayList<>(knownActors.keySet());
    candidates.removeIf(actor -> knownActors.get(actor).isCrashed || !mayKill.test(actor));
    return candidates.isEmpty() ? null : candidates.get((int) draw(FaultKind.KILLS, candidates.size()));
  }

  void noteSend(Actor<?> actor, FailureDomain domain) {
    knownActors.put(actor, domain);
  }
}
