package io.fibry.engine.actor;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorWithReturn;
import io.fibry.ContextPropagator.HandlerStep;
import io.fibry.ContextPropagator.StepObservation;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.Sink;
import io.fibry.Strategy;
import io.fibry.engine.cell.ActorBehavior;
import io.fibry.engine.cell.ActorSettings;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.NonMemberScope;
import io.fibry.engine.cell.OwningScope;
import io.fibry.engine.jvm.EngineClasses;
import io.fibry.engine.jvm.MessageTexts;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.BaggageExecutor;
import io.fibry.engine.message.BaggageText;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.ExpiryTimer;
import io.fibry.engine.message.ObservedStep;
import io.fibry.engine.queue.GuardedQueue;
import io.fibry.engine.queue.SharedQueue;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.spi.BlockBuilder;
import io.fibry.spi.PoolSpec;
import io.fibry.text.Lines;
import io.fibry.time.Scheduler;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** The builder that scopes give to users. A null strategy or mailbox means the scope's option. */
@SuppressWarnings("unchecked") // the signatures of ActorBuilder check the types
public final class DefaultActorBuilder<M> implements BlockBuilder<M>, Cloneable {
  private static final Mailbox<Object> POOL_MAILBOX = Mailbox.bounded(1024, Overflow.BLOCK); // the default of pools
  private static final Predicate<Object> MATCHES_NO_MESSAGE = new ActorSettings.NoneNegligible();

  // The fields up to `isForClient` do not change after the builder is published. ActorSettings
  // explains the last five of them
  private OwningScope owner;
  private String label; // the name of the actors; null if they have none
  private Strategy strategy;
  private Mailbox<?> mailbox;
  private FailurePolicy policy = FailurePolicy.resume();
  private Class<?> type;
  private Handler.Interceptor<Object> interceptor; // null if there is none
  private PoolSpec<?> poolSpec; // null if the builder makes no pools
  private boolean isInline;
  private boolean closesFirst;
  private boolean excludedFromAccounts;
  private Predicate<Object> isNegligible = MATCHES_NO_MESSAGE;
  private boolean isForClient;
  // The settings of the last actor and the behavior of the last sink, which the next actor or sink
  // uses if the options have not changed. Racing threads may each make an instance
  private volatile ActorSettings lastSettings;
  private volatile ActorBehavior lastSinkBehavior;

  private DefaultActorBuilder(OwningScope owner) {
    this.owner = owner;
  }

  public static DefaultActorBuilder<Object> of(OwningScope owner) {
    return new DefaultActorBuilder<>(owner);
  }

  /**
   * Returns a builder for actors with this name. Makes the settings before the copy, so that the
   * builders for all names share the settings.
   */
  public DefaultActorBuilder<M> named(String name) {
    settings();
    return copyWith(copy -> copy.label = name);
  }

  /** Returns a changed copy, which does not share the settings of this builder. */
  private <N> DefaultActorBuilder<N> copyWithNewSettings(Consumer<DefaultActorBuilder<N>> change) {
    return copyWith(copy -> {
      copy.lastSettings = null;
      change.accept(copy);
    });
  }

  private <N> DefaultActorBuilder<N> copyWith(Consumer<DefaultActorBuilder<N>> change) {
    try {
      var copy = (DefaultActorBuilder<N>) clone();
      copy.lastSinkBehavior = null;
      change.accept(copy);
      VarHandle.storeStoreFence(); // a thread that reads the copy through a data race sees all of its fields
      return copy;
    } catch (CloneNotSupportedException impossible) {
      throw new AssertionError(impossible);
    }
  }

  @Override
  public ActorBuilder<M> strategy(Strategy strategy) {
    return copyWithNewSettings(copy -> copy.strategy = Objects.requireNonNull(strategy, "strategy"));
  }

  @Override
  public <N extends M> ActorBuilder<N> mailbox(Mailbox<? super N> mailbox) {
    return copyWith(copy -> copy.mailbox = Objects.requireNonNull(mailbox, "mailbox"));
  }

  @Override
  public ActorBuilder<M> onFailure(FailurePolicy policy) {
    if (Objects.requireNonNull(policy, "policy").kind().isForScopes())
      throw new IllegalArgumentException(policy + " is for scopes: give the actor escalate(), and its scope " + policy);
    return copyWithNewSettings(copy -> copy.policy = policy);
  }

  @Override
  public <N extends M> ActorBuilder<N> protocol(Class<N> type) {
    return copyWith(copy -> copy.type = Objects.requireNonNull(type, "type"));
  }

  @Override
  public <N extends M> ActorBuilder<N> intercept(Handler.Interceptor<? super N> interceptor) {
    var outer = (Handler.Interceptor<Object>) Objects.requireNonNull(interceptor, "interceptor");
    var inner = this.interceptor;
    return copyWith(copy -> copy.interceptor =
        inner == null ? outer : (message, next) -> outer.intercept(message, () -> inner.intercept(message, next)));
  }

  @Override
  public ActorBuilder<M> inlineRequests() {
    return copyWithNewSettings(copy -> copy.isInline = true);
  }

  @Override
  public <N extends M> BlockBuilder<N> pooled(PoolSpec<? super N> spec) {
    Objects.requireNonNull(spec, "spec");
    if (isPooled()) throw new IllegalArgumentException(
        "this builder already makes pools (" + this.poolSpec + "); make the " + spec
            + " with a builder of actors");
    return this.<N>copyWith(copy -> copy.poolSpec = spec).defaultMailbox(POOL_MAILBOX);
  }

  @Override
  public boolean isPooled() {
    return poolSpec != null;
  }

  @Override
  public BlockBuilder<M> closesFirst() {
    return copyWithNewSettings(copy -> copy.closesFirst = true);
  }

  @Override
  public BlockBuilder<M> excludedFromAccounts() {
    return copyWithNewSettings(copy -> copy.excludedFromAccounts = true);
  }

  @Override
  public BlockBuilder<M> ignoreLost(Predicate<Object> isNegligible) {
    return copyWithNewSettings(copy -> copy.isNegligible = Objects.requireNonNull(isNegligible, "isNegligible"));
  }

  @Override
  public BlockBuilder<M> countLostAsDisconnected() {
    return copyWithNewSettings(copy -> copy.isForClient = true);
  }

  @Override
  public BlockBuilder<M> inOuterScope() {
    return copyWithNewSettings(copy -> copy.owner = new NonMemberScope(owner));
  }

  @Override
  public BlockBuilder<M> inNewScope(String kind) {
    var blockScope = owner.openBlockScope(Objects.requireNonNull(kind, "kind"), label);
    return copyWithNewSettings(copy -> copy.owner = blockScope);
  }

  @Override
  public ActorScope scope() {
    return owner.scope();
  }

  @Override
  public BlockBuilder<M> child(String part) {
    Objects.requireNonNull(part, "part");
    return label == null ? this
        : copyWith(copy -> copy.label = label + "/" + OwningScope.checkedName(Lines.escaped(part)));
  }

  @Override
  public BlockBuilder<M> defaultName(String name) {
    return label != null ? this : named(OwningScope.checkedName(name));
  }

  @Override
  public Optional<String> name() {
    return Optional.ofNullable(label);
  }

  @Override
  public Strategy strategy() {
    return strategy != null ? strategy : owner.options().strategy();
  }

  @Override
  public Mailbox<? super M> mailbox() {
    return (Mailbox<? super M>) (mailbox != null ? mailbox : owner.options().mailbox());
  }

  @Override
  public BlockBuilder<M> defaultMailbox(Mailbox<Object> mailbox) {
    Objects.requireNonNull(mailbox, "mailbox");
    return this.mailbox == null && mailbox() == Mailbox.unbounded() ? copyWith(copy -> copy.mailbox = mailbox) : this;
  }

  @Override
  public Duration askLimit() {
    return owner.options().askLimit();
  }

  @Override
  public boolean mayShowMessages() {
    return owner.options().mayShowMessageContents();
  }

  @Override
  public String describe(Object message) {
    return MessageTexts.describe(message, mayShowMessages());
  }

  @Override
  public String describeRequest(Object request) {
    return MessageTexts.describeRequest(request, mayShowMessages());
  }

  @Override
  public Scheduler.Timer startTimeout(Scheduler clock, Duration limit, Runnable task) {
    return ExpiryTimer.start(clock, limit, task);
  }

  @Override
  public Executor contextExecutor(Actor<?> receiver, Object message) {
    return BaggageExecutor.of(owner.options().contextPropagators(), receiver, message);
  }

  @Override
  public String contextText(Actor<?> receiver, Object message) {
    return BaggageText.of(owner.options().contextPropagators(), receiver, message);
  }

  @Override
  public Executor contextExecutor(Actor<?> receiver, Object message, String text) {
    return BaggageExecutor.ofText(owner.options().contextPropagators(), receiver, message, text);
  }

  @Override
  public boolean hasPropagators() {
    return !owner.options().contextPropagators().isEmpty();
  }

  @Override
  public StepObservation beginStep(HandlerStep step) {
    return ObservedStep.begin(owner.options().contextPropagators(), step);
  }

  @Override
  public long droppedBy(Actor<?> actor) {
    return actor instanceof GuardedCell cell ? cell.dropped() : 0;
  }

  @Override
  public Scheduler scheduler() {
    return owner.options().scheduler();
  }

  // ---- actors

  @Override
  public <N extends M> Actor<N> newActor(Handler<N> handler) {
    return (Actor<N>) make(ActorBehavior.of(settings(), (Handler<Object>) checked(handler)));
  }

  @Override
  public <N extends M> Actor<N> newActor(Handler.WithContext<N> handler) {
    return (Actor<N>) make(ActorBehavior.withContext(settings(), (Handler.WithContext<Object>) checked(handler)));
  }

  @Override
  public <N extends M, R> ActorWithReturn<N, R> newActorWithReturn(Handler.Returning<N, R> handler) {
    return (ActorWithReturn<N, R>) make(
        ActorBehavior.returning(settings(), (Handler.Returning<Object, Object>) checked(handler)));
  }

  @Override
  public <N extends M, R> ActorWithReturn<N, R> newActorWithReturn(Handler.ReturningWithContext<N, R> handler) {
    return (ActorWithReturn<N, R>) make(
        ActorBehavior.returningWithContext(settings(),
            (Handler.ReturningWithContext<Object, Object>) checked(handler)));
  }

  static <H> H checked(H handler) {
    return Objects.requireNonNull(handler, "handler");
  }

  @Override
  public Sink<Void> newSink() {
    return (Sink<Void>) (Sink<?>) makeSink(sinkBehavior(), null);
  }

  @Override
  public <S> Sink<S> newSink(S object) {
    Objects.requireNonNull(object, "object");
    if (isPooled()) return this.<S>initialState(() -> object).newSink(); // the object is for the workers, not the pool
    return (Sink<S>) (Sink<?>) makeSink(sinkBehavior(), object);
  }

  private ActorBehavior sinkBehavior() {
    var currentSettings = settings();
    var behavior = lastSinkBehavior;
    if (behavior == null || behavior.settings != currentSettings)
      lastSinkBehavior = behavior = intercepted(ActorBehavior.ofSink(currentSettings));
    return behavior;
  }

  @Override
  public <S> ActorBuilder.Stateful<S, M> initialState(Callable<? extends S> initial) {
    return new DefaultStatefulBuilder<>(this, Objects.requireNonNull(initial, "initial"), null, null);
  }

  ActorSettings settings() {
    var strategy = strategy();
    var propagators = owner.options().contextPropagators();
    if (!propagators.isEmpty()) Baggage.hadPropagators = true;
    var currentSettings = lastSettings;
    if (currentSettings == null || currentSettings.strategy() != strategy
        || currentSettings.contextPropagators() != propagators)
      lastSettings = currentSettings =
          owner.intern(new ActorSettings(owner, strategy, policy, isInline, closesFirst, excludedFromAccounts,
              isNegligible, isForClient, propagators));
    return currentSettings;
  }

  /** Returns null if there is none. */
  Handler.Interceptor<Object> interceptor() {
    return interceptor;
  }

  private ActorBehavior intercepted(ActorBehavior behavior) {
    return interceptor == null ? behavior : behavior.intercept(interceptor);
  }

  private ActorCell make(ActorBehavior behavior) {
    return makeAndAdmit(intercepted(behavior));
  }

  ActorCell makeAndAdmit(ActorBehavior behavior) {
    return makeAndAdmit(behavior, null);
  }

  /** Makes an actor that has this state from the beginning; null if it has none. */
  private ActorCell makeAndAdmit(ActorBehavior behavior, Object state) {
    if (isPooled()) return makePool(behavior);
    var cell = makeCell(behavior);
    if (state != null) cell.setObject(state);
    var residentDrain = cell.prepareResident();
    admit(cell);
    if (residentDrain != null) cell.startResident(residentDrain, () -> {});
    return cell;
  }

  private ActorCell makeCell(ActorBehavior behavior) {
    var mailbox = mailbox();
    if (isPlain(mailbox))
      return behavior.settings.ownsThreads() ? new ActorCell(behavior) : loadedWhenMade(new ExecutorCell(behavior));
    EngineClasses.initializeMailboxes();
    return loadedWhenMade(new GuardedCell(behavior, new GuardedQueue<>(mailbox, scheduler()::nanoTime,
        (message, baggage) -> new Envelope(message, (Baggage) baggage))));
  }

  /** Returns whether the mailbox needs no queue with a lock. */
  static boolean isPlain(Mailbox<?> mailbox) {
    return mailbox.capacity() == Integer.MAX_VALUE && !mailbox.isPriority() && !mailbox.isSelective();
  }

  /**
   * Returns the cell. Without this call, the verifier would load the classes of all kinds of actors
   * with the first actor, to check that each is an ActorCell.
   */
  private static ActorCell loadedWhenMade(Object cell) {
    return (ActorCell) cell;
  }

  void admit(Cell cell) {
    boolean isMember = owner.isMember(label);
    if (isMember || label != null) cell.setIdentity(label, type);
    if (!isMember) return;
    try {
      owner.admit(cell, label);
    } catch (IllegalStateException scopeClosed) {
      cell.endNeverStarted(new ExitReason.Stopped());
      throw scopeClosed;
    }
  }

  private ActorCell makePool(ActorBehavior behavior) {
    var mailbox = mailbox();
    if (mailbox.isSelective()) throw new IllegalArgumentException("the workers of a pool share one mailbox (" + mailbox
        + "), so none of them can choose from it; give the pool a mailbox that is not selective");
    if (mailbox.isPriority() && poolSpec.isByKey())
      throw new IllegalArgumentException("a pool by key keeps the messages of a key in the order they came, and a "
          + "priority mailbox does not; give it another mailbox");
    EngineClasses.initializeMailboxes();
    var queue = new SharedQueue<>(mailbox, poolSpec, scheduler()::nanoTime);
    // a resident worker has a thread of its own, and is worth keeping for later messages
    boolean keepsWorkers = !poolSpec.isPerMessage() || behavior.settings.strategy().isResident();
    var pool = loadedWhenMade(keepsWorkers ? new PoolCell(behavior, queue) : new PerMessagePool(behavior, queue));
    admit(pool);
    ((PoolCell) pool).open();
    return pool;
  }

  /** The object is null if the behavior makes it, or if there is none. */
  ActorCell makeSink(ActorBehavior behavior, Object object) {
    if (isPooled() && poolSpec.isContentAware()) throw new IllegalArgumentException(
        "a sink runs code, which has neither weight nor key; make the sink with a pool of another kind");
    if (mailbox().isPriority()) throw new IllegalArgumentException(
        "a sink runs code, which a priority mailbox cannot order; give it another mailbox");
    return makeAndAdmit(behavior, object);
  }
}
