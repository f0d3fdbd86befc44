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

  /** @param most of what is drawn, in nanoseconds */
  private record FaultOdds(double probability, long most) {}

  private final Map<FaultKind, SplittableRandom> chances = new EnumMap<>(FaultKind.class);
  private final Map<FaultKind, FaultOdds> odds = new EnumMap<>(FaultKind.class);
  private final Set<FaultKind> without; // of the run: do not strike
  private final Set<FaultKind> struck = EnumSet.noneOf(FaultKind.class);
  private final SplittableRandom kinds; // which of them this run has
  private final Map<Actor<?>, FailureDomain> known = new LinkedHashMap<>(); // whom messages were sent to, for kills
  private Predicate<Actor<?>> whom = actor -> false;
  private boolean always;

  Faults(SplittableRandom chance, Set<FaultKind> without) {
    for (var fault : FaultKind.values()) chances.put(fault, chance.split());
    this.kinds = chance.split();
    this.without = without;
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
    this.whom = Objects.requireNonNull(whom, "whom");
    return ask(FaultKind.KILLS, probability, 1);
  }

  /**
   * Holds back a thread that could run: its message is late, and the order of a sender's messages
   * stays.
   *
   * @param probability of each time that a thread becomes ready
   * @param most time
   * @return this
   */
  public Faults withDelays(double probability, Duration most) {
    return ask(FaultKind.DELAYS, probability, nanos(most));
  }

  /**
   * Lets time pass although threads could run, as on a machine that is suspended.
   *
   * @param probability of each step
   * @param most time
   * @return this
   */
  public Faults withStalls(double probability, Duration most) {
    return ask(FaultKind.STALLS, probability, nanos(most));
  }

  /**
   * Lets clocks jump: all of them ahead, or the wall clock alone, ahead or back.
   *
   * @param probability of each step
   * @param most time
   * @return this
   */
  public Faults withClockJumps(double probability, Duration most) {
    return ask(FaultKind.JUMPS, probability, nanos(most));
  }

  /**
   * Lets a strategy get no thread for its actor.
   *
   * @param probability of each start
   * @return this
   */
  public Faults withFailedThreadStarts(double probability) {
    return ask(FaultKind.THREADS, probability, 1);
  }

  /**
   * Makes bounded mailboxes of the program smaller than it said: room for 1 to 3.
   *
   * @param probability of each call of {@code Mailbox.bounded}
   * @return this
   */
  public Faults withSmallMailboxes(double probability) {
    return ask(FaultKind.MAILBOXES, probability, 3);
  }

  /** Ends all of them. */
  public void stop() {
    odds.clear();
  }

  Faults ask(FaultKind fault, double probability, long most) {
    if (!(probability >= 0 && probability <= 1)) throw new IllegalArgumentException(
        "a probability of " + probability + " for " + fault.label() + "; give one from 0 to 1");
    boolean chosen = kinds.nextBoolean() || always;
    if (chosen) odds.put(fault, new FaultOdds(probability, most));
    return this;
  }

  private static long nanos(Duration most) {
    if (!most.isPositive()) throw new IllegalArgumentException("at most " + most + "; give more than zero");
    return SimulatedClock.nanos(most);
  }

  // ---- what a run asks

  boolean mayStrike(FaultKind fault) {
    return odds.containsKey(fault);
  }

  boolean strikes(FaultKind fault) {
    var asked = odds.get(fault);
    if (asked == null || chances.get(fault).nextDouble() >= asked.probability || without.contains(fault)) return false;
    struck.add(fault);
    return true;
  }

  /** Perhaps all clocks, or the wall clock alone. */
  void jump(SimulatedClock clock) {
    if (!strikes(FaultKind.JUMPS)) return;
    long nanos = amount(FaultKind.JUMPS);
    switch ((int) draw(FaultKind.JUMPS, 3)) {
      case 0 -> clock.jump(nanos, 0);
      case 1 -> clock.jump(0, nanos / 1_000_000);
      default -> clock.jump(0, -nanos / 1_000_000);
    }
  }

  /** Draws a number from one to the most that the program allowed. */
  long amount(FaultKind fault) {
    return 1 + chances.get(fault).nextLong(odds.get(fault).most);
  }

  /**
   * Draws a number from zero up to, but not including, {@code most}, even if the fault was not
   * asked for.
   */
  long draw(FaultKind fault, long most) {
    return chances.get(fault).nextLong(most);
  }

  Set<FaultKind> struck() {
    return struck;
  }

  /** Null: nobody. */
  Actor<?> victim() {
    List<Actor<?>> some = new ArrayList<>(known.keySet());
    some.removeIf(actor -> known.get(actor).crashed || !whom.test(actor));
    return some.isEmpty() ? null : some.get((int) draw(FaultKind.KILLS, some.size()));
  }

  void sentTo(Actor<?> actor, FailureDomain at) {
    known.put(actor, at);
  }
}
