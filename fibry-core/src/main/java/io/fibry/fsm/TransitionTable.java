package io.fibry.fsm;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Handler;
import io.fibry.block.Arguments;
import io.fibry.block.ChangedCopy;
import io.fibry.fsm.StateRules.EntryRule;
import io.fibry.fsm.StateRules.LeaveRule;
import io.fibry.fsm.StateRules.MessageRule;
import io.fibry.fsm.StateRules.StateRule;
import io.fibry.fsm.StateRules.TimeoutRule;
import io.fibry.spi.BlockBuilder;
import io.fibry.text.Durations;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** All rules of a machine, shared by its actors. */
@SuppressWarnings("unchecked") // Fsm guarantees the types
final class TransitionTable<S, M> implements Fsm<S, M> {
  private final Class<S> stateType;
  private final Class<M> messageType;
  private final S initialState;
  private final List<StateRule> rules;
  private final ConcurrentHashMap<Class<?>, StateRules> rulesByState = new ConcurrentHashMap<>();
  private volatile boolean isChecked; // false -> true; racing threads may both check

  private TransitionTable(Class<S> stateType, Class<M> messageType, S initialState, List<StateRule> rules) {
    this.stateType = stateType;
    this.messageType = messageType;
    this.initialState = initialState;
    this.rules = rules;
  }

  static <S, M> Fsm<S, M> of(Class<S> stateType, Class<M> messageType, S initialState) {
    Objects.requireNonNull(messageType, "messages");
    requireSubtype(Objects.requireNonNull(stateType, "states"),
        Objects.requireNonNull(initialState, "initial").getClass(), "initial state");
    return new TransitionTable<>(stateType, messageType, initialState, List.of());
  }

  // ---- rules

  @Override
  public <A extends S, B extends M> Fsm<S, M> on(Class<A> state, Class<B> message,
      Handler.StatefulReturning<A, B, S> next) {
    Objects.requireNonNull(next, "next");
    return on(state, message, (Transition<A, B, S, M>) (current, received, context) -> next.handle(current, received));
  }

  @Override
  public <A extends S, B extends M> Fsm<S, M> on(Class<A> state, Class<B> message, Transition<A, B, S, M> next) {
    return add(state, message,
        ((Transition<Object, Object, Object, Object>) Objects.requireNonNull(next, "next"))::next);
  }

  @Override
  public Fsm<S, M> postpone(Class<? extends S> state, Class<? extends M> message) {
    return add(state, message, null);
  }

  private Fsm<S, M> add(Class<?> state, Class<?> message,
      Handler.StatefulReturningWithContext<Object, Object, Object> next) {
    var rule =
        new MessageRule(requireSubtype(stateType, state, "state"), requireSubtype(messageType, message, "message"),
            next);
    return with(rule, "it has " + rule.text());
  }

  @Override
  public <A extends S> Fsm<S, M> onTimeout(Class<A> state, Duration time, Handler.Returning<A, S> next) {
    requireSubtype(stateType, state, "state");
    Arguments.requirePositive(time, "time", this + " cannot leave "
        + state.getSimpleName() + " after " + Durations.text(time) + ": it would never be in this state");
    return with(
        new TimeoutRule(state, time, ((Handler.Returning<Object, ?>) Objects.requireNonNull(next, "next"))::handle),
        state.getSimpleName() + " has a time limit");
  }

  @Override
  public <A extends S> Fsm<S, M> onEnter(Class<A> state, Handler<A> code) {
    var rule = new EntryRule(requireSubtype(stateType, state, "state"), code(code));
    return with(rule, "it has code for entering " + rule.text());
  }

  @Override
  public <A extends S> Fsm<S, M> onLeave(Class<A> state, Handler<A> code) {
    var rule = new LeaveRule(requireSubtype(stateType, state, "state"), code(code));
    return with(rule, "it has code for leaving " + rule.text());
  }

  private static Handler<Object> code(Handler<?> code) {
    return (Handler<Object>) Objects.requireNonNull(code, "code");
  }

  private Fsm<S, M> with(StateRule rule, String existingText) {
    if (rules.stream().anyMatch(rule::isSameAs)) throw new IllegalArgumentException(
        this + " cannot have two rules for one case: " + existingText + " already; leave one of them out");
    return new TransitionTable<>(stateType, messageType, initialState, ChangedCopy.append(rules, rule));
  }

  private static Class<?> requireSubtype(Class<?> supertype, Class<?> type, String role) {
    if (!supertype.isAssignableFrom(Objects.requireNonNull(type, role)))
      throw new IllegalArgumentException("the " + role + " is a " + type.getName() + ", not a " + supertype.getName());
    return type;
  }

  // ---- checks before the first actor is made

  /**
   * Returns the classes that the objects of a sealed type can have. For a type that is not sealed,
   * returns the type itself.
   */
  private static Set<Class<?>> concreteTypes(Class<?> type) {
    var concreteTypes = new LinkedHashSet<Class<?>>();
    if (type.isSealed()) for (var subtype : type.getPermittedSubclasses()) concreteTypes.addAll(concreteTypes(subtype));
    if (!type.isSealed() || !Modifier.isAbstract(type.getModifiers())) concreteTypes.add(type);
    return concreteTypes;
  }

  private void check() {
    if (isChecked) return;
    if (timeoutRules().findAny().isEmpty() && messageRules().allMatch(MessageRule::isPostponing))
      throw new IllegalStateException(
          this + " would never leave its initial state: give it transitions by on(..) or onTimeout(..)");
    for (var message : concreteTypes(messageType)) requireStateThatTakes(message);
    for (var state : concreteTypes(stateType)) {
      var stateRules = rules(state);
      if (stateRules.canPostpone() && !stateRules.canLeave())
        throw new IllegalStateException(this + " postpones " + stateRules.acceptedText()
            + " in " + state.getSimpleName() + ", which no rule leaves: the message would wait forever");
      for (var message : concreteTypes(messageType)) stateRules.ruleFor(message);
    }
    isChecked = true;
  }

  private void requireStateThatTakes(Class<?> message) {
    if (messageRules().noneMatch(rule -> !rule.isPostponing() && isOverlapping(rule.message(), message)))
      throw new IllegalStateException(this + " takes " + message.getSimpleName()
          + " in no state; add a rule for one state or for all: on(" + stateType.getSimpleName()
          + ".class, " + message.getSimpleName() + ".class, ..)");
  }

  private Stream<MessageRule> messageRules() {
    return StateRules.ofType(MessageRule.class, rules);
  }

  private Stream<TimeoutRule> timeoutRules() {
    return StateRules.ofType(TimeoutRule.class, rules);
  }

  private static boolean isOverlapping(Class<?> type, Class<?> otherType) {
    return type.isAssignableFrom(otherType) || otherType.isAssignableFrom(type);
  }

  // ---- actors

  @Override
  public Actor<M> newActor(ActorBuilder<? super M> builder) {
    var actorBuilder = (ActorBuilder<Object>) Objects.requireNonNull(builder, "builder");
    check();
    var blockBuilder = BlockBuilder.of(actorBuilder);
    var mailbox = blockBuilder.mailbox();
    boolean hasInitialWork = rules(initialState.getClass()).hasEntryWork();
    if (mailbox.isPriority() && (hasInitialWork || timeoutRules().findAny().isPresent()))
      throw new IllegalArgumentException(this
          + " sends itself messages, at time limits and to enter its initial state, which a priority mailbox cannot "
          + "rank; give it another mailbox");
    if (messageRules().anyMatch(MessageRule::isPostponing) && !mailbox.isSelective())
      actorBuilder = actorBuilder.mailbox(mailbox.selective());
    var actor = actorBuilder.initialState(() -> new MachineRun(this::rules, blockBuilder, initialState))
        .onStop(MachineRun::stop).newActor(MachineRun::handle);
    if (hasInitialWork) actor.sendMessage(new MachineRun.InitialEntry(initialState));
    return (Actor<M>) (Actor<?>) actor;
  }

  private StateRules rules(Class<?> state) {
    var stateRules = rulesByState.get(state);
    if (stateRules == null)
      rulesByState.put(state, stateRules = new StateRules(requireSubtype(stateType, state, "next state"), rules));
    return stateRules;
  }

  @Override
  public String toString() {
    return "the machine of " + stateType.getSimpleName();
  }
}
