package io.fibry.simulation;

import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The data that repeats a run, in one line. "4" is seed 4 with the decisions of its policy. "4:"
 * has the decisions of a quiet machine, "4:0=1" has one decision that differs, and "4:0=1!kills"
 * leaves out a fault.
 *
 * @param seed of the program's chance and the faults
 * @param decisions null for the decisions of the policy
 * @param without faults that do not strike, although the program asks for them
 */
record RunReplay(long seed, @Nullable Decisions decisions, Set<FaultKind> without) {

  private static final int MAX_LENGTH = 500; // characters that anybody copies

  static RunReplay of(long seed) {
    return new RunReplay(seed, null, Set.of());
  }

  static RunReplay parse(String text) {
    try {
      var faults = text.split("!", 2);
      var parts = faults[0].split(":", 2);
      var without = EnumSet.noneOf(FaultKind.class);
      if (faults.length == 2) for (var one : faults[1].split("!")) without.add(FaultKind.of(one));
      return new RunReplay(Long.parseLong(parts[0]), parts.length == 1 ? null : Decisions.parse(parts[1]), without);
    } catch (IllegalArgumentException wrong) {
      throw new IllegalArgumentException("'" + text + "' is not a run of a simulation; give what a failure printed,"
          + " such as 4:0=1 or only a seed", wrong);
    }
  }

  RunReplay with(Decisions others) {
    return new RunReplay(seed, others, without);
  }

  RunReplay without(FaultKind fault) {
    var more = EnumSet.of(fault);
    more.addAll(without);
    return new RunReplay(seed, decisions, more);
  }

  /** The seed repeats it too, with more decisions. */
  RunReplay shortened() {
    return toString().length() > MAX_LENGTH ? new RunReplay(seed, null, without) : this;
  }

  @Override
  public String toString() {
    var text = new StringBuilder().append(seed);
    if (decisions != null) text.append(':').append(decisions);
    for (var fault : without) text.append('!').append(fault.label());
    return text.toString();
  }
}
