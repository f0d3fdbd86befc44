package io.fibry.fsm;

import io.fibry.Handler;
import io.fibry.fsm.Fsm.Transition;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;

/**
 * All that was said of the states of one class, by the most specific rule for each message. Found
 * once for each class, then looked up.
 */
final class StateRules {
  /** What a message does in a state. */
  record On(Class<?> state, Class<?> message, Transition<Object, Object, Object, Object> next) {
    private static final On NOTHING = new On(null, null, null);

    boolean postpones() {
      return next == null;
    }

    boolean above(On other) {
      return state.isAssignableFrom(other.state) && message.isAssignableFrom(other.message);
    }

    @Override
    public String toString() {
      return (postpones() ? "postpone(" : "on(") + state.getSimpleName() + ", " + message.getSimpleName() + ")";
    }
  }

  /** What happens after so long in a state. */
  record After(Class<?> state, Duration time, Handler.Returning<Object, Object> next) implements Told {
    @Override
    public String toString() {
      return "after(" + state.getSimpleName() + ", " + time + ")";
    }
  }

  /** What runs when a state is entered or left. */
  record Code(Class<?> state, Handler<Object> code) implements Told {
    @Override
    public String toString() {
      return state.getSimpleName();
    }
  }

  /** Something that was said of a state alone. */
  interface Told {
    Class<?> state();
  }

  final After after; // these three: null where nothing was said
  final Handler<Object> entering;
  final Handler<Object> leaving;
  private final List<On> ons; // those that hold for these states
  // by class of the message
  private final ConcurrentHashMap<Class<?>, On> found = new ConcurrentHashMap<>();

  StateRules(Class<?> state, Collection<On> ons, Collection<After> afters, Collection<Code> entering,
      Collection<Code> leaving) {
    this.ons = ons.stream().filter(on -> on.state().isAssignableFrom(state)).toList();
    this.after = told(state, afters, "has two times, ");
    this.entering = code(told(state, entering, "is entered with code for "));
    this.leaving = code(told(state, leaving, "is left with code for "));
  }

  private static Handler<Object> code(Code told) {
    return told == null ? null : told.code;
  }

  private static <T extends Told> T told(Class<?> state, Collection<T> all, String twice) {
    var fitting = all.stream().filter(one -> one.state().isAssignableFrom(state)).toList();
    return mostSpecific(fitting, (one, other) -> one.state().isAssignableFrom(other.state()),
        "a state of class " + state.getSimpleName() + " " + twice);
  }

  /** The one below all others; null: there are none. */
  private static <T> T mostSpecific(List<T> all, BiPredicate<T, T> above, String where) {
    for (var one : all) if (all.stream().allMatch(other -> above.test(other, one))) return one;
    if (all.isEmpty()) return null;
    throw new IllegalStateException(where + all.stream().map(Object::toString).collect(Collectors.joining(" and "))
        + ", and none is the most specific; say what holds for that class itself");
  }

  /** Null: nothing was said of this message. */
  On on(Class<?> message) {
    var known = found.get(message);
    if (known == null) found.put(message, known = find(message)); // a race finds the same twice
    return known == On.NOTHING ? null : known;
  }

  private On find(Class<?> message) {
    var fitting = ons.stream().filter(on -> on.message.isAssignableFrom(message)).toList();
    var best = mostSpecific(fitting, On::above, "a message of class " + message.getSimpleName() + " has the rules ");
    return best == null ? On.NOTHING : best;
  }

  /** Whether anything can lead out of these states. */
  boolean leadsOut() {
    return after != null || ons.stream().anyMatch(on -> !on.postpones());
  }

  boolean postpones() {
    return ons.stream().anyMatch(On::postpones);
  }

  /** The messages that were named, in words. */
  String taken() {
    return ons.isEmpty() ? "nothing"
        : ons.stream().map(on -> on.message.getSimpleName()).distinct().collect(Collectors.joining(", "));
  }
}
