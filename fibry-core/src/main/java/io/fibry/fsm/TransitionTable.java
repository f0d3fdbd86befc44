package io.fibry.fsm;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Handler;
import io.fibry.fsm.StateRules.After;
import io.fibry.fsm.StateRules.Code;
import io.fibry.fsm.StateRules.On;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The one machine: what was said, in the order it was said. Shared by all its actors; what it says
 * of a class of states is found at first need and kept.
 */
// the types are held by Fsm; behind it states and messages are Objects
@SuppressWarnings("unchecked")
final class TransitionTable<S, M> implements Fsm<S, M> {
  private final Class<S> states;
  private final Class<M> messages;
  private final S initial;
  private final List<On> ons;
  private final List<After> afters;
  private final List<Code> entering;
  private final List<Code> leaving;
  // by class of the state
  private final ConcurrentHashMap<Class<?>, StateRules> rules = new ConcurrentHashMap<>();
  private volatile boolean checked; // false -> true, by whoever checked it; twice does no harm

  private TransitionTable(Class<S> states, Class<M> messages, S initial, List<On> ons, List<After> afters,
      List<Code> entering,
      List<Code> leaving) {
    this.states = states;
    this.messages = messages;
    this.initial = initial;
    this.ons = ons;
    this.afters = afters;
    this.entering = entering;
    this.leaving = leaving;
  }

  static <S, M> Fsm<S, M> of(Class<S> states, Class<M> messages, S initial) {
    Objects.requireNonNull(messages, "messages");
    below(Objects.requireNonNull(states, "states"), Objects.requireNonNull(initial, "initial").getClass(),
        "initial state");
    return new TransitionTable<>(states, messages, initial, List.of(), List.of(), List.of(), List.of());
  }

  // ---- saying

  @Override
  public <A extends S, B extends M> Fsm<S, M> on(Class<A> state, Class<B> message,
      Handler.StatefulReturning<A, B, S> next) {
    Objects.requireNonNull(next, "next");
    return on(state, message, (Transition<A, B, S, M>) (given, got, context) -> next.handle(given, got));
  }

  @Override
  public <A extends S, B extends M> Fsm<S, M> on(Class<A> state, Class<B> message, Transition<A, B, S, M> next) {
    return with(state, message, (Transition<Object, Object, Object, Object>) Objects.requireNonNull(next, "next"));
  }

  @Override
  public Fsm<S, M> postpone(Class<? extends S> state, Class<? extends M> message) {
    return with(state, message, null);
  }

  private Fsm<S, M> with(Class<?> state, Class<?> message, Transition<Object, Object, Object, Object> next) {
    below(messages, message, "message");
    var on = new On(below(states, state, "state"), message, next);
    refuse(ons, one -> one.state() == state && one.message() == message, "it has " + on + " already");
    return new TransitionTable<>(states, messages, initial, more(ons, on), afters, entering, leaving);
  }

  @Override
  public <A extends S> Fsm<S, M> after(Class<A> state, Duration time, Handler.Returning<A, S> next) {
    below(states, state, "state");
    if (!Objects.requireNonNull(time, "time").isPositive()) throw new IllegalArgumentException(this + " cannot leave "
        + state.getSimpleName() + " after " + time + ": it would never be in it; give more than zero");
    var after = new After(state, time,
        (Handler.Returning<Object, Object>) (Handler.Returning<?, ?>) Objects.requireNonNull(next, "next"));
    refuse(afters, one -> one.state() == state, state.getSimpleName() + " has a time already");
    return new TransitionTable<>(states, messages, initial, ons, more(afters, after), entering, leaving);
  }

  @Override
  public <A extends S> Fsm<S, M> entering(Class<A> state, Handler<A> code) {
    return new TransitionTable<>(states, messages, initial, ons, afters,
        more(entering, code(entering, state, code, "entering")),
        leaving);
  }

  @Override
  public <A extends S> Fsm<S, M> leaving(Class<A> state, Handler<A> code) {
    return new TransitionTable<>(states, messages, initial, ons, afters, entering,
        more(leaving, code(leaving, state, code, "leaving")));
  }

  private Code code(List<Code> before, Class<?> state, Handler<?> code, String verb) {
    below(states, state, "state");
    refuse(before, one -> one.state() == state, "it has code for " + verb + " " + state.getSimpleName() + " already");
    return new Code(state, (Handler<Object>) Objects.requireNonNull(code, "code"));
  }

  private static Class<?> below(Class<?> all, Class<?> one, String what) {
    if (!all.isAssignableFrom(Objects.requireNonNull(one, what)))
      throw new IllegalArgumentException("the " + what + " is of " + one.getName() + ", which is no " + all.getName());
    return one;
  }

  private <T> void refuse(List<T> before, Predicate<T> same, String why) {
    if (before.stream().anyMatch(same))
      throw new IllegalArgumentException(this + " cannot be told twice what to do: " + why + "; leave one of them out");
  }

  private static <T> List<T> more(List<T> before, T one) {
    return Stream.concat(before.stream(), Stream.of(one)).toList();
  }

  // ---- checking, once

  /**
   * What may be met in a sealed set, as far as it is closed: the classes of its objects, and where
   * it is open, the open type.
   */
  private static Set<Class<?>> leaves(Class<?> type) {
    var found = new LinkedHashSet<Class<?>>();
    if (type.isSealed()) for (var below : type.getPermittedSubclasses()) found.addAll(leaves(below));
    if (!type.isSealed() || !Modifier.isAbstract(type.getModifiers())) found.add(type);
    return found;
  }

  private void check() {
    if (checked) return;
    if (afters.isEmpty() && ons.stream().allMatch(On::postpones)) throw new IllegalStateException(
        this + " would never leave its initial state: give it transitions by on(..) or after(..)");
    for (var message : leaves(messages)) checkTaken(message);
    for (var state : leaves(states)) {
      var here = rules(state);
      if (here.postpones() && !here.leadsOut()) throw new IllegalStateException(this + " postpones " + here.taken()
          + " in " + state.getSimpleName() + ", which nothing leads out of: it would wait for ever");
      for (var message : leaves(messages)) here.on(message);
    }
    checked = true;
  }

  private void checkTaken(Class<?> message) {
    if (ons.stream().noneMatch(on -> !on.postpones() && meets(on.message(), message)))
      throw new IllegalStateException(this + " takes " + message.getSimpleName()
          + " in no state; say by on(..) what it does, in one state or in all: on(" + states.getSimpleName()
          + ".class, " + message.getSimpleName() + ".class, ..)");
  }

  private static boolean meets(Class<?> one, Class<?> other) {
    return one.isAssignableFrom(other) || other.isAssignableFrom(one);
  }

  // ---- making

  @Override
  public Actor<M> newActor(ActorBuilder<? super M> how) {
    var builder = (ActorBuilder<Object>) Objects.requireNonNull(how, "how");
    check();
    var mailbox = builder.mailbox();
    if (mailbox.ordered() && (begins() || !afters.isEmpty()))
      throw new IllegalArgumentException(this
          + " sends itself messages, for its times and to begin, which a priority mailbox cannot rank; give it "
          + "another mailbox");
    if (ons.stream().anyMatch(On::postpones) && !mailbox.isSelective()) builder = builder.mailbox(mailbox.selective());
    var actor = builder.initialState(() -> new MachineRun(this)).onStop(MachineRun::stop).newActor(MachineRun::handle);
    if (begins()) actor.sendMessage(new MachineRun.Begin(initial));
    return (Actor<M>) (Actor<?>) actor;
  }

  // ---- for its actors

  Object initial() {
    return initial;
  }

  /** Whether there is something to do before the first message. */
  boolean begins() {
    var here = rules(initial.getClass());
    return here.entering != null || here.after != null;
  }

  /** What holds for the states of this class. */
  StateRules rules(Class<?> state) {
    var known = rules.get(state);
    // a race makes the same twice
    if (known == null)
      rules.put(state, known = new StateRules(below(states, state, "next state"), ons, afters, entering, leaving));
    return known;
  }

  @Override
  public String toString() {
    return "the machine of " + states.getSimpleName();
  }
}
