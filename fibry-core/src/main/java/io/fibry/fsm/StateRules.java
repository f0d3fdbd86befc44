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
    default boolean isNoMoreSpecificThan(StateRule other) {
      return state().isAssignableFrom(other.state());
    }

    default boolean isSameAs(StateRule other) {
      return getClass() == other.getClass() && isNoMoreSpecificThan(other) && other.isNoMoreSpecificThan(this);
    }

    default String text() {
      return state().getSimpleName();
    }
  }

  record MessageRule(Class<?> state, Class<?> message,
      Handler.StatefulReturningWithContext<Object, Object, Object> next)
      implements StateRule {
    private static final MessageRule NOTHING = new MessageRule(null, null, null);

    boolean isPostponing() {
      return next == null;
    }

    @Override
    public boolean isNoMoreSpecificThan(StateRule other) {
      return StateRule.super.isNoMoreSpecificThan(other) && message.isAssignableFrom(((MessageRule) other).message);
    }

    @Override
    public String text() {
      return (isPostponing() ? "postpone(" : "on(") + state.getSimpleName() + ", " + message.getSimpleName() + ")";
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

  final TimeoutRule timeoutRule; // null, like the next two: none
  final EntryRule entryRule;
  final LeaveRule leaveRule;
  private final List<MessageRule> messageRules;
  // by class of message
  private final ConcurrentHashMap<Class<?>, MessageRule> found = new ConcurrentHashMap<>();

  StateRules(Class<?> state, List<StateRule> all) {
    var fitting = all.stream().filter(rule -> rule.state().isAssignableFrom(state)).toList();
    var where = "a state of class " + state.getSimpleName();
    this.messageRules = ofType(MessageRule.class, fitting).toList();
    this.timeoutRule = mostSpecific(ofType(TimeoutRule.class, fitting), where + " has two times, ");
    this.entryRule = mostSpecific(ofType(EntryRule.class, fitting), where + " is entered with code for ");
    this.leaveRule = mostSpecific(ofType(LeaveRule.class, fitting), where + " is left with code for ");
  }

  static <T> Stream<T> ofType(Class<T> type, List<StateRule> rules) {
    return rules.stream().filter(type::isInstance).map(type::cast);
  }

  /** Returns null if there are no rules. */
  private static <T extends StateRule> T mostSpecific(Stream<T> rules, String where) {
    var all = rules.toList();
    for (var rule : all) if (all.stream().allMatch(other -> other.isNoMoreSpecificThan(rule))) return rule;
    if (all.isEmpty()) return null;
    throw new IllegalStateException(where + all.stream().map(StateRule::text).collect(Collectors.joining(" and "))
        + ", and none is the most specific; add a rule for that class itself");
  }

  /** Returns null if there is no rule. */
  MessageRule ruleFor(Class<?> message) {
    var known = found.get(message);
    if (known == null) found.put(message, known = find(message)); // a race finds the same twice
    return known == MessageRule.NOTHING ? null : known;
  }

  private MessageRule find(Class<?> message) {
    var fitting = messageRules.stream().filter(on -> on.message.isAssignableFrom(message));
    var best = mostSpecific(fitting, "a message of class " + message.getSimpleName() + " has the rules ");
    return best == null ? MessageRule.NOTHING : best;
  }

  /** Whether there is something to do before the first message. */
  boolean hasInitialWork() {
    return entryRule != null || timeoutRule != null;
  }

  boolean canLeave() {
    return timeoutRule != null || messageRules.stream().anyMatch(on -> !on.isPostponing());
  }

  boolean canPostpone() {
    return messageRules.stream().anyMatch(MessageRule::isPostponing);
  }

  /** For texts. */
  String acceptedText() {
    return messageRules.isEmpty() ? "nothing"
        : messageRules.stream().map(on -> on.message.getSimpleName()).distinct().collect(Collectors.joining(", "));
  }
}
