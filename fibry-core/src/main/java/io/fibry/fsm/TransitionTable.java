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
  private final Class<S> states;
  private final Class<M> messages;
  private final S initial;
  private final List<StateRule> rules;
  private final ConcurrentHashMap<Class<?>, StateRules> byState = new ConcurrentHashMap<>();
  private volatile boolean checked; // false -> true; a race checks twice

  private TransitionTable(Class<S> states, Class<M> messages, S initial, List<StateRule> rules) {
    this.states = states;
    this.messages = messages;
    this.initial = initial;
    this.rules = rules;
  }

  static <S, M> Fsm<S, M> of(Class<S> states, Class<M> messages, S initial) {
    Objects.requireNonNull(messages, "messages");
    requireSubtype(Objects.requireNonNull(states, "states"), Objects.requireNonNull(initial, "initial").getClass(),
        "initial state");
    return new TransitionTable<>(states, messages, initial, List.of());
  }

  // ---- rules

  @Override
  public <A extends S, B extends M> Fsm<S, M> on(Class<A> state, Class<B> message,
      Handler.StatefulReturning<A, B, S> next) {
    Objects.requireNonNull(next, "next");
    return on(state, message, (Transition<A, B, S, M>) (given, got, context) -> next.handle(given, got));
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
    var on =
        new MessageRule(requireSubtype(states, state, "state"), requireSubtype(messages, message, "message"), next);
    return with(on, "it has " + on.text());
  }

  @Override
  public <A extends S> Fsm<S, M> onTimeout(Class<A> state, Duration time, Handler.Returning<A, S> next) {
    requireSubtype(states, state, "state");
    Arguments.requirePositive(time, "time", this + " cannot leave "
        + state.getSimpleName() + " after " + Durations.text(time) + ": it would never be in it");
    return with(
        new TimeoutRule(state, time, ((Handler.Returning<Object, ?>) Objects.requireNonNull(next, "next"))::handle),
        state.getSimpleName() + " has a time");
  }

  @Override
  public <A extends S> Fsm<S, M> onEnter(Class<A> state, Handler<A> code) {
    var entering = new EntryRule(requireSubtype(states, state, "state"), code(code));
    return with(entering, "it has code for entering " + entering.text());
  }

  @Override
  public <A extends S> Fsm<S, M> onLeave(Class<A> state, Handler<A> code) {
    var leaving = new LeaveRule(requireSubtype(states, state, "state"), code(code));
    return with(leaving, "it has code for leaving " + leaving.text());
  }

  private static Handler<Object> code(Handler<?> code) {
    return (Handler<Object>) Objects.requireNonNull(code, "code");
  }

  private Fsm<S, M> with(StateRule rule, String present) {
    if (rules.stream().anyMatch(rule::isSameAs)) throw new IllegalArgumentException(
        this + " cannot be told twice what to do: " + present + " already; leave one of them out");
    return new TransitionTable<>(states, messages, initial, ChangedCopy.append(rules, rule));
  }

  private static Class<?> requireSubtype(Class<?> all, Class<?> one, String what) {
    if (!all.isAssignableFrom(Objects.requireNonNull(one, what)))
      throw new IllegalArgumentException("the " + what + " is a " + one.getName() + ", not a " + all.getName());
    return one;
  }

  // ---- checks, made once

  /** The classes of a sealed type's objects; of an open type, itself. */
  private static Set<Class<?>> concreteTypes(Class<?> type) {
    var found = new LinkedHashSet<Class<?>>();
    if (type.isSealed()) for (var below : type.getPermittedSubclasses()) found.addAll(concreteTypes(below));
    if (!type.isSealed() || !Modifier.isAbstract(type.getModifiers())) found.add(type);
    return found;
  }

  private void check() {
    if (checked) return;
    if (timeoutRules().findAny().isEmpty() && messageRules().allMatch(MessageRule::isPostponing))
      throw new IllegalStateException(
          this + " would never leave its initial state: give it transitions by on(..) or onTimeout(..)");
    for (var message : concreteTypes(messages)) checkTaken(message);
    for (var state : concreteTypes(states)) {
      var here = rules(state);
      if (here.canPostpone() && !here.canLeave())
        throw new IllegalStateException(this + " postpones " + here.acceptedText()
            + " in " + state.getSimpleName() + ", which nothing leads out of: it would wait forever");
      for (var message : concreteTypes(messages)) here.ruleFor(message);
    }
    checked = true;
  }

  private void checkTaken(Class<?> message) {
    if (messageRules().noneMatch(on -> !on.isPostponing() && isOverlapping(on.message(), message)))
      throw new IllegalStateException(this + " takes " + message.getSimpleName()
          + " in no state; add a rule for one state or for all: on(" + states.getSimpleName()
          + ".class, " + message.getSimpleName() + ".class, ..)");
  }

  private Stream<MessageRule> messageRules() {
    return StateRules.ofType(MessageRule.class, rules);
  }

  private Stream<TimeoutRule> timeoutRules() {
    return StateRules.ofType(TimeoutRule.class, rules);
  }

  private static boolean isOverlapping(Class<?> one, Class<?> other) {
    return one.isAssignableFrom(other) || other.isAssignableFrom(one);
  }

  // ---- actors

  @Override
  public Actor<M> newActor(ActorBuilder<? super M> how) {
    var builder = (ActorBuilder<Object>) Objects.requireNonNull(how, "how");
    check();
    var home = BlockBuilder.of(builder);
    var mailbox = home.mailbox();
    boolean begins = rules(initial.getClass()).hasInitialWork();
    if (mailbox.isOrdered() && (begins || timeoutRules().findAny().isPresent()))
      throw new IllegalArgumentException(this
          + " sends itself messages, for its times and to begin, which a priority mailbox cannot rank; give it "
          + "another mailbox");
    if (messageRules().anyMatch(MessageRule::isPostponing) && !mailbox.isSelective())
      builder = builder.mailbox(mailbox.selective());
    var actor = builder.initialState(() -> new MachineRun(this::rules, home, initial)).onStop(MachineRun::stop)
        .newActor(MachineRun::handle);
    if (begins) actor.sendMessage(new MachineRun.InitialEntry(initial));
    return (Actor<M>) (Actor<?>) actor;
  }

  private StateRules rules(Class<?> state) {
    var known = byState.get(state);
    if (known == null) byState.put(state, known = new StateRules(requireSubtype(states, state, "next state"), rules));
    return known;
  }

  @Override
  public String toString() {
    return "the machine of " + states.getSimpleName();
  }
}
