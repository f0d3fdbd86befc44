package io.fibry.fsm;

import io.fibry.Handler;
import io.fibry.text.Durations;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The rules for the states of one class. */
final class StateRules {
  sealed interface StateRule {
    Class<?> state();

    /** The other rule is as specific, or more. */
    default boolean above(StateRule other) {
      return state().isAssignableFrom(other.state());
    }

    default boolean repeats(StateRule other) {
      return getClass() == other.getClass() && above(other) && other.above(this);
    }

    default String text() {
      return state().getSimpleName();
    }
  }

  record MessageRule(Class<?> state, Class<?> message,
      Handler.StatefulReturningWithContext<Object, Object, Object> next)
      implements StateRule {
    private static final MessageRule NOTHING = new MessageRule(null, null, null);

    boolean postpones() {
      return next == null;
    }

    @Override
    public boolean above(StateRule other) {
      return StateRule.super.above(other) && message.isAssignableFrom(((MessageRule) other).message);
    }

    @Override
    public String text() {
      return (postpones() ? "postpone(" : "on(") + state.getSimpleName() + ", " + message.getSimpleName() + ")";
    }
  }

  record TimeoutRule(Class<?> state, Duration time, Handler.Returning<Object, Object> next) implements StateRule {
    @Override
    public String text() {
      return "onTimeout(" + state.getSimpleName() + ", " + Durations.text(time) + ")";
    }
  }

  record EntryRule(Class<?> state, Handler<Object> code) implements StateRule {}

  record LeaveRule(Class<?> state, Handler<Object> code) implements StateRule {}

  final TimeoutRule after; // null, like the next two: none
  final EntryRule entering;
  final LeaveRule leaving;
  private final List<MessageRule> ons;
  // by class of message
  private final ConcurrentHashMap<Class<?>, MessageRule> found = new ConcurrentHashMap<>();

  StateRules(Class<?> state, List<StateRule> all) {
    var fitting = all.stream().filter(rule -> rule.state().isAssignableFrom(state)).toList();
    var where = "a state of class " + state.getSimpleName();
    this.ons = only(MessageRule.class, fitting).toList();
    this.after = mostSpecific(only(TimeoutRule.class, fitting), where + " has two times, ");
    this.entering = mostSpecific(only(EntryRule.class, fitting), where + " is entered with code for ");
    this.leaving = mostSpecific(only(LeaveRule.class, fitting), where + " is left with code for ");
  }

  static <T> Stream<T> only(Class<T> type, List<StateRule> rules) {
    return rules.stream().filter(type::isInstance).map(type::cast);
  }

  /** Returns null if there are no rules. */
  private static <T extends StateRule> T mostSpecific(Stream<T> rules, String where) {
    var all = rules.toList();
    for (var rule : all) if (all.stream().allMatch(other -> other.above(rule))) return rule;
    if (all.isEmpty()) return null;
    throw new IllegalStateException(where + all.stream().map(StateRule::text).collect(Collectors.joining(" and "))
        + ", and none is the most specific; add a rule for that class itself");
  }

  /** Returns null if there is no rule. */
  MessageRule on(Class<?> message) {
    var known = found.get(message);
    if (known == null) found.put(message, known = find(message)); // a race finds the same twice
    return known == MessageRule.NOTHING ? null : known;
  }

  private MessageRule find(Class<?> message) {
    var fitting = ons.stream().filter(on -> on.message.isAssignableFrom(message));
    var best = mostSpecific(fitting, "a message of class " + message.getSimpleName() + " has the rules ");
    return best == null ? MessageRule.NOTHING : best;
  }

  /** Whether there is something to do before the first message. */
  boolean begins() {
    return entering != null || after != null;
  }

  boolean leadsOut() {
    return after != null || ons.stream().anyMatch(on -> !on.postpones());
  }

  boolean postpones() {
    return ons.stream().anyMatch(MessageRule::postpones);
  }

  /** For texts. */
  String taken() {
    return ons.isEmpty() ? "nothing"
        : ons.stream().map(on -> on.message.getSimpleName()).distinct().collect(Collectors.joining(", "));
  }
}
