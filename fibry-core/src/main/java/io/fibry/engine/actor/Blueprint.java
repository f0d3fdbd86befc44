package io.fibry.engine.actor;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorWithReturn;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.Sink;
import io.fibry.Strategy;
import io.fibry.engine.cell.Behaviour;
import io.fibry.engine.cell.Dispatch;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.scope.Scope;
import io.fibry.engine.queue.GuardedQueue;
import io.fibry.engine.queue.SharedQueue;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.mailbox.Sharing;
import io.fibry.time.Scheduler;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;

/** The one builder. A null component means: as the scope says when an actor is made. */
// the handlers' types are held by ActorBuilder; behind it a message is an Object
@SuppressWarnings("unchecked")
public record Blueprint<M>(Scope scope, String label, Strategy ownStrategy, Mailbox<?> ownMailbox, FailurePolicy policy,
    Class<?> type, Handler.Around<Object> around, boolean inline, Sharing<?> sharing, boolean first, Cache cache)
    implements ActorBuilder<M> {
  private static final Mailbox<Object> POOL = Mailbox.bounded(1024, Overflow.BLOCK); // unless told

  /** What the actors made so far share. */
  public static final class Cache {
    private volatile Behaviour.How how; // the last one made; a race makes one too many
    private volatile Behaviour sink;
  }

  public static Blueprint<Object> of(Scope scope, String name) {
    return new Blueprint<>(scope, name, null, null, FailurePolicy.goOn(), null, null, false, null, false, new Cache());
  }

  private <N> Blueprint<N> copy(String label, Strategy strategy, Mailbox<?> mailbox, FailurePolicy policy,
      Class<?> type,
      Handler.Around<Object> around, boolean inline) {
    return new Blueprint<>(scope, label, strategy, mailbox, policy, type, around, inline, sharing, first, new Cache());
  }

  @Override
  public ActorBuilder<M> strategy(Strategy strategy) {
    return copy(label, Objects.requireNonNull(strategy, "strategy"), ownMailbox, policy, type, around, inline);
  }

  @Override
  public <N extends M> ActorBuilder<N> mailbox(Mailbox<? super N> mailbox) {
    return copy(label, ownStrategy, Objects.requireNonNull(mailbox, "mailbox"), policy, type, around, inline);
  }

  @Override
  public ActorBuilder<M> onFailure(FailurePolicy policy) {
    if (policy.kind.forScopes())
      throw new IllegalArgumentException(policy + " is for scopes: give the actor escalate(), and its scope " + policy);
    return copy(label, ownStrategy, ownMailbox, policy, type, around, inline);
  }

  @Override
  public <N extends M> ActorBuilder<N> protocol(Class<N> type) {
    return copy(label, ownStrategy, ownMailbox, policy, Objects.requireNonNull(type, "type"), around, inline);
  }

  @Override
  public <N extends M> ActorBuilder<N> around(Handler.Around<? super N> around) {
    var outer = (Handler.Around<Object>) Objects.requireNonNull(around, "around");
    var inner = this.around;
    return copy(label, ownStrategy, ownMailbox, policy, type,
        inner == null ? outer : (message, next) -> outer.around(message, () -> inner.around(message, next)), inline);
  }

  @Override
  public ActorBuilder<M> inlineRequests() {
    return copy(label, ownStrategy, ownMailbox, policy, type, around, true);
  }

  @Override
  public <N extends M> ActorBuilder<N> shared(Sharing<? super N> sharing) {
    Objects.requireNonNull(sharing, "sharing");
    if (this.sharing != null) throw new IllegalArgumentException(
        "this is a builder of pools already (" + this.sharing + "); make the " + sharing + " of a builder of actors");
    return new Blueprint<N>(scope, label, ownStrategy, ownMailbox, policy, type, around, inline, sharing, first,
        new Cache()).orRoom();
  }

  private ActorBuilder<M> orRoom() {
    return orMailbox(POOL);
  }

  @Override
  public ActorBuilder<M> endsFirst() {
    return new Blueprint<>(scope, label, ownStrategy, ownMailbox, policy, type, around, inline, sharing, true,
        new Cache());
  }

  @Override
  public ActorBuilder<M> part(String part) {
    Objects.requireNonNull(part, "part");
    return label == null ? this
        : copy(label + "/" + Scope.checked(part), ownStrategy, ownMailbox, policy, type, around, inline);
  }

  @Override
  public Optional<String> name() {
    return Optional.ofNullable(label);
  }

  @Override
  public Strategy strategy() {
    return ownStrategy != null ? ownStrategy : scope.options().strategy;
  }

  @Override
  public Mailbox<? super M> mailbox() {
    return (Mailbox<? super M>) (ownMailbox != null ? ownMailbox : scope.options().mailbox);
  }

  @Override
  public ActorBuilder<M> orMailbox(Mailbox<Object> otherwise) {
    Objects.requireNonNull(otherwise, "otherwise");
    return mailbox() == Mailbox.unbounded() && ownMailbox == null ? mailbox(otherwise) : this;
  }

  @Override
  public Scheduler scheduler() {
    return scope.options().scheduler;
  }

  @Override
  public <N extends M> Actor<N> newActor(Handler<N> handler) {
    return (Actor<N>) make(Behaviour.of(how(), (Handler<Object>) checked(handler)));
  }

  @Override
  public <N extends M> Actor<N> newActor(Handler.InContext<N> handler) {
    return (Actor<N>) make(Behaviour.inContext(how(), (Handler.InContext<Object>) checked(handler)));
  }

  @Override
  public <N extends M, R> ActorWithReturn<N, R> newActorWithReturn(Handler.Returning<N, R> handler) {
    return (ActorWithReturn<N, R>) make(
        Behaviour.returning(how(), (Handler.Returning<Object, Object>) checked(handler)));
  }

  @Override
  public <N extends M, R> ActorWithReturn<N, R> newActorWithReturn(Handler.ReturningInContext<N, R> handler) {
    return (ActorWithReturn<N, R>) make(
        Behaviour.returningInContext(how(), (Handler.ReturningInContext<Object, Object>) checked(handler)));
  }

  private static <H> H checked(H handler) {
    return Objects.requireNonNull(handler, "handler");
  }

  @Override
  public Sink<Void> newSink() {
    var how = how();
    var shared = cache.sink;
    if (shared == null || shared.how != how) cache.sink = shared = surrounded(Behaviour.ofSink(how));
    return (Sink<Void>) (Sink<?>) makeSink(shared);
  }

  @Override
  public <S> ActorBuilder.Stateful<S, M> initialState(Callable<? extends S> initial) {
    return new WithState<>(this, Objects.requireNonNull(initial, "initial"), null, null);
  }

  private ActorCell make(Behaviour behaviour) {
    return admitted(surrounded(behaviour));
  }

  private ActorCell admitted(Behaviour behaviour) {
    if (sharing != null) return makePool(behaviour);
    var mailbox = mailbox();
    var cell = GuardedQueue.needed(mailbox) ? new GuardedCell(behaviour,
        new GuardedQueue<>(mailbox, scheduler()::nanoTime, (message, along) -> new Envelope(message, (Baggage) along)))
        : new ActorCell(behaviour);
    var resident = Dispatch.prepareResident(cell);
    scope.admit(cell, label, type);
    if (resident != null) Dispatch.settleIn(cell, resident, () -> {});
    return cell;
  }

  private ActorCell makePool(Behaviour behaviour) {
    var mailbox = mailbox();
    if (mailbox.isSelective()) throw new IllegalArgumentException("the workers of a pool share one mailbox (" + mailbox
        + "), so none of them can choose from it; give it one that is not selective");
    if (mailbox.ordered() && sharing.byKey()) throw new IllegalArgumentException(
        "a pool by key keeps the messages of a key in the order they came, and a priority mailbox does not; give "
            + "it another mailbox");
    var pool = new PoolCell(behaviour, new SharedQueue<>(mailbox, sharing, scheduler()::nanoTime));
    scope.admit(pool, label, type);
    pool.open();
    return pool;
  }

  private ActorCell makeSink(Behaviour behaviour) {
    if (sharing != null && sharing.looks()) throw new IllegalArgumentException(
        "a sink runs code, which has neither weight nor key; make the sink of a pool of another kind");
    if (mailbox().ordered()) throw new IllegalArgumentException(
        "a sink runs code, which a priority mailbox cannot order; give it another mailbox");
    return admitted(behaviour);
  }

  private Behaviour.How how() {
    var strategy = strategy();
    var carriers = scope.options().carriers;
    if (carriers != null) Baggage.used = true;
    var shared = cache.how;
    if (shared == null || shared.strategy() != strategy || shared.carriers() != carriers)
      cache.how = shared = new Behaviour.How(scope, strategy, policy, inline, first, carriers);
    return shared;
  }

  private Behaviour surrounded(Behaviour behaviour) {
    return around == null ? behaviour : behaviour.within(around);
  }

  /** The second half of a recipe: what the actors have for a state. */
  private record WithState<S, M>(Blueprint<M> recipe, Callable<?> initial, Handler<Object> stop,
      Handler.Returning<Object, Object> copy) implements ActorBuilder.Stateful<S, M> {
    @Override
    public ActorBuilder.Stateful<S, M> onStop(Handler<S> hook) {
      return new WithState<>(recipe, initial, (Handler<Object>) Objects.requireNonNull(hook, "hook"), copy);
    }

    @Override
    public ActorBuilder.Stateful<S, M> rollback(Handler.Returning<S, S> copy) {
      return new WithState<>(recipe, initial, stop,
          (Handler.Returning<Object, Object>) (Handler.Returning<?, ?>) Objects.requireNonNull(copy, "copy"));
    }

    @Override
    public <N extends M> Actor<N> newActor(Handler.Stateful<S, N> handler) {
      return (Actor<N>) make(Behaviour.stateful(recipe.how(), (Handler.Stateful<Object, Object>) checked(handler)));
    }

    @Override
    public <N extends M> Actor<N> newActor(Handler.StatefulInContext<S, N> handler) {
      return (Actor<N>) make(
          Behaviour.statefulInContext(recipe.how(), (Handler.StatefulInContext<Object, Object>) checked(handler)));
    }

    @Override
    public <N extends M, R> ActorWithReturn<N, R> newActorWithReturn(Handler.StatefulReturning<S, N, R> handler) {
      return (ActorWithReturn<N, R>) make(Behaviour.statefulReturning(recipe.how(),
          (Handler.StatefulReturning<Object, Object, Object>) checked(handler)));
    }

    @Override
    public <N extends M,
        R> ActorWithReturn<N, R> newActorWithReturn(Handler.StatefulReturningInContext<S, N, R> handler) {
      return (ActorWithReturn<N, R>) make(Behaviour.statefulReturningInContext(recipe.how(),
          (Handler.StatefulReturningInContext<Object, Object, Object>) checked(handler)));
    }

    @Override
    public Sink<S> newSink() {
      return (Sink<S>) (Sink<?>) recipe.makeSink(stateful(Behaviour.ofSink(recipe.how())));
    }

    private ActorCell make(Behaviour behaviour) {
      return recipe.admitted(stateful(behaviour));
    }

    private Behaviour stateful(Behaviour behaviour) {
      return new Behaviour.WithState(recipe.surrounded(behaviour), initial, stop, copy);
    }
  }
}
