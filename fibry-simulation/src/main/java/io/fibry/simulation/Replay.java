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
record Replay(long seed, @Nullable Decisions decisions, Set<Fault> without) {

  private static final int MOST = 500; // characters that anybody copies

  static Replay of(long seed) {
    return new Replay(seed, null, Set.of());
  }

  static Replay parse(String text) {
    try {
      var faults = text.split("!", 2);
      var parts = faults[0].split(":", 2);
      var without = EnumSet.noneOf(Fault.class);
      if (faults.length == 2) for (var one : faults[1].split("!")) without.add(Fault.of(one));
      return new Replay(Long.parseLong(parts[0]), parts.length == 1 ? null : Decisions.parse(parts[1]), without);
    } catch (IllegalArgumentException wrong) {
      throw new IllegalArgumentException("'" + text + "' is not a run of a simulation; give what a failure printed,"
          + " such as 4:0=1 or only a seed", wrong);
    }
  }

  Replay with(Decisions others) {
    return new Replay(seed, others, without);
  }

  Replay without(Fault fault) {
    var more = EnumSet.of(fault);
    more.addAll(without);
    return new Replay(seed, decisions, more);
  }

  /** The seed repeats it too, with more decisions. */
  Replay shortened() {
    return toString().length() > MOST ? new Replay(seed, null, without) : this;
  }

  @Override
  public String toString() {
    var text = new StringBuilder().append(seed);
    if (decisions != null) text.append(':').append(decisions);
    for (var fault : without) text.append('!').append(fault.label());
    return text.toString();
  }
}
