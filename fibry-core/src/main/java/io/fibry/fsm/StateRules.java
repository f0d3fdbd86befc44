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

    /** Returns whether the other rule is at least as specific as this rule. */
    default boolean isAtMostAsSpecificAs(StateRule other) {
      return state().isAssignableFrom(other.state());
    }

    default boolean isSameAs(StateRule other) {
      return getClass() == other.getClass() && isAtMostAsSpecificAs(other) && other.isAtMostAsSpecificAs(this);
    }

    default String text() {
      return state().getSimpleName();
    }
  }

  /**
   * A rule for a class of messages in a class of states. If {@code next} is null, the rule
   * postpones the messages.
   */
  record MessageRule(Class<?> state, Class<?> message,
      Handler.StatefulReturningWithContext<Object, Object, Object> next)
      implements StateRule {
    private static final MessageRule NO_RULE = new MessageRule(null, null, null);

    boolean isPostponing() {
      return next == null;
    }

    @Override
    public boolean isAtMostAsSpecificAs(StateRule other) {
      return StateRule.super.isAtMostAsSpecificAs(other) && message.isAssignableFrom(((MessageRule) other).message);
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

  final TimeoutRule timeoutRule; // null if there is no such rule, like the next two fields
  final EntryRule entryRule;
  final LeaveRule leaveRule;
  private final List<MessageRule> messageRules;
  // key: class of the message
  private final ConcurrentHashMap<Class<?>, MessageRule> ruleByMessage = new ConcurrentHashMap<>();

  StateRules(Class<?> state, List<StateRule> allRules) {
    var matching = allRules.stream().filter(rule -> rule.state().isAssignableFrom(state)).toList();
    var subject = "a state of class " + state.getSimpleName();
    this.messageRules = ofType(MessageRule.class, matching).toList();
    this.timeoutRule = mostSpecific(ofType(TimeoutRule.class, matching), subject + " has the time limits ");
    this.entryRule = mostSpecific(ofType(EntryRule.class, matching), subject + " is entered with code for ");
    this.leaveRule = mostSpecific(ofType(LeaveRule.class, matching), subject + " is left with code for ");
  }

  static <T> Stream<T> ofType(Class<T> type, List<StateRule> rules) {
    return rules.stream().filter(type::isInstance).map(type::cast);
  }

  /** Returns the most specific of the rules, or null if there are no rules. */
  private static <T extends StateRule> T mostSpecific(Stream<T> rules, String problem) {
    var ruleList = rules.toList();
    for (var rule : ruleList)
      if (ruleList.stream().allMatch(other -> other.isAtMostAsSpecificAs(rule))) return rule;
    if (ruleList.isEmpty()) return null;
    throw new IllegalStateException(problem
        + ruleList.stream().map(StateRule::text).collect(Collectors.joining(" and "))
        + ", and none of these rules is the most specific; add a rule for that class itself");
  }

  /** Returns the rule for a class of messages, or null if there is none. */
  MessageRule ruleFor(Class<?> message) {
    var rule = ruleByMessage.get(message);
    if (rule == null) ruleByMessage.put(message, rule = find(message)); // racing threads find the same rule
    return rule == MessageRule.NO_RULE ? null : rule;
  }

  private MessageRule find(Class<?> message) {
    var matching = messageRules.stream().filter(rule -> rule.message.isAssignableFrom(message));
    var bestRule = mostSpecific(matching, "a message of class " + message.getSimpleName() + " has the rules ");
    return bestRule == null ? MessageRule.NO_RULE : bestRule;
  }

  /**
   * Returns whether the entry of the state runs code or starts a timer. If so, a machine sends
   * itself a message that enters its initial state, before its first message and after each
   * restart.
   */
  boolean hasEntryWork() {
    return entryRule != null || timeoutRule != null;
  }

  boolean canLeave() {
    return timeoutRule != null || messageRules.stream().anyMatch(rule -> !rule.isPostponing());
  }

  boolean canPostpone() {
    return messageRules.stream().anyMatch(MessageRule::isPostponing);
  }

  /** Returns the names of the message classes that have rules, for the text of an exception. */
  String acceptedText() {
    return messageRules.isEmpty() ? "nothing"
        : messageRules.stream().map(rule -> rule.message.getSimpleName()).distinct().collect(Collectors.joining(", "));
  }
}
