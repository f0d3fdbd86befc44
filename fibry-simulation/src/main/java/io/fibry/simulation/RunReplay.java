package io.fibry.simulation;

import io.fibry.simulation.run.Decisions;
import io.fibry.simulation.run.FaultKind;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The data that repeats a run, with a text form of one line. "4" is seed 4 with the decisions of
 * its policy. "4:" has the decisions of a quiet machine, "4:0=1" has one decision that differs, and
 * "4:0=1!kills" also leaves out a kind of fault.
 *
 * @param seed the seed of the program's random numbers and of the faults
 * @param decisions the decisions of the run, or null for the decisions of the policy
 * @param disabledFaults the kinds of faults that do not strike, although the program asks for them
 */
record RunReplay(long seed, @Nullable Decisions decisions, Set<FaultKind> disabledFaults) {

  private static final int MAX_LENGTH = 500; // characters; see isShort()

  static RunReplay of(long seed) {
    return new RunReplay(seed, null, Set.of());
  }

  static RunReplay parse(String text) {
    try {
      var runAndFaults = text.split("!", 2);
      var seedAndDecisions = runAndFaults[0].split(":", 2);
      var disabledFaults = EnumSet.noneOf(FaultKind.class);
      if (runAndFaults.length == 2)
        for (var label : runAndFaults[1].split("!")) disabledFaults.add(FaultKind.of(label));
      return new RunReplay(Long.parseLong(seedAndDecisions[0]),
          seedAndDecisions.length == 1 ? null : Decisions.parse(seedAndDecisions[1]), disabledFaults);
    } catch (IllegalArgumentException malformed) {
      throw new IllegalArgumentException("'" + text + "' is not a run of a simulation; give the text that a failure"
          + " printed, such as 4:0=1 or only a seed", malformed);
    }
  }

  RunReplay withDecisions(Decisions newDecisions) {
    return new RunReplay(seed, newDecisions, disabledFaults);
  }

  RunReplay without(FaultKind fault) {
    var faults = EnumSet.of(fault);
    faults.addAll(disabledFaults);
    return new RunReplay(seed, decisions, faults);
  }

  /** Returns whether the text is short enough to be copied by hand. */
  boolean isShort() {
    return toString().length() <= MAX_LENGTH;
  }

  @Override
  public String toString() {
    var text = new StringBuilder().append(seed);
    if (decisions != null) text.append(':').append(decisions);
    for (var fault : disabledFaults) text.append('!').append(fault.label());
    return text.toString();
  }
}
