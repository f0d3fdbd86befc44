package io.fibry.engine.actor;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorWithReturn;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.Sink;
import io.fibry.Strategy;
import io.fibry.engine.cell.ActorBehavior;
import io.fibry.mailbox.Mailbox;
import java.util.Objects;
import java.util.concurrent.Callable;

/** A builder of actors that have state. */
@SuppressWarnings("unchecked") // the signatures of ActorBuilder check the types
record DefaultStatefulBuilder<S, M>(DefaultActorBuilder<M> blueprint, Callable<?> initialState,
    Handler<Object> stopHook,
    Handler.Returning<Object, Object> copyFunction) implements ActorBuilder.Stateful<S, M> {
  @Override
  public ActorBuilder.Stateful<S, M> onStop(Handler<S> hook) {
    return new DefaultStatefulBuilder<>(blueprint, initialState, (Handler<Object>) Objects.requireNonNull(hook, "hook"),
        copyFunction);
  }

  @Override
  public ActorBuilder.Stateful<S, M> rollback(Handler.Returning<S, S> copy) {
    return new DefaultStatefulBuilder<>(blueprint, initialState, stopHook,
        (Handler.Returning<Object, Object>) (Handler.Returning<?, ?>) Objects.requireNonNull(copy, "copy"));
  }

  private <N> ActorBuilder.Stateful<S, N> withBlueprint(ActorBuilder<N> newBlueprint) {
    return new DefaultStatefulBuilder<>((DefaultActorBuilder<N>) newBlueprint, initialState, stopHook, copyFunction);
  }

  @Override
  public ActorBuilder.Stateful<S, M> strategy(Strategy strategy) {
    return withBlueprint(blueprint.strategy(strategy));
  }

  @Override
  public <N extends M> ActorBuilder.Stateful<S, N> mailbox(Mailbox<? super N> mailbox) {
    return withBlueprint(blueprint.<N>mailbox(mailbox));
  }

  @Override
  public ActorBuilder.Stateful<S, M> onFailure(FailurePolicy policy) {
    return withBlueprint(blueprint.onFailure(policy));
  }

  @Override
  public <N extends M> ActorBuilder.Stateful<S, N> protocol(Class<N> type) {
    return withBlueprint(blueprint.protocol(type));
  }

  @Override
  public <N extends M> ActorBuilder.Stateful<S, N> intercept(Handler.Interceptor<? super N> around) {
    return withBlueprint(blueprint.<N>intercept(around));
  }

  @Override
  public ActorBuilder.Stateful<S, M> inlineRequests() {
    return withBlueprint(blueprint.inlineRequests());
  }

  @Override
  public <N extends M> Actor<N> newActor(Handler.Stateful<S, N> handler) {
    return (Actor<N>) make(
        ActorBehavior.stateful(blueprint.settings(),
            (Handler.Stateful<Object, Object>) DefaultActorBuilder.checked(handler)));
  }

  @Override
  public <N extends M> Actor<N> newActor(Handler.StatefulWithContext<S, N> handler) {
    return (Actor<N>) make(ActorBehavior.statefulWithContext(blueprint.settings(),
        (Handler.StatefulWithContext<Object, Object>) DefaultActorBuilder.checked(handler)));
  }

  @Override
  public <N extends M, R> ActorWithReturn<N, R> newActorWithReturn(Handler.StatefulReturning<S, N, R> handler) {
    return (ActorWithReturn<N, R>) make(ActorBehavior.statefulReturning(blueprint.settings(),
        (Handler.StatefulReturning<Object, Object, Object>) DefaultActorBuilder.checked(handler)));
  }

  @Override
  public <N extends M,
      R> ActorWithReturn<N, R> newActorWithReturn(Handler.StatefulReturningWithContext<S, N, R> handler) {
    return (ActorWithReturn<N, R>) make(ActorBehavior.statefulReturningWithContext(blueprint.settings(),
        (Handler.StatefulReturningWithContext<Object, Object, Object>) DefaultActorBuilder.checked(handler)));
  }

  @Override
  public Sink<S> newSink() {
    return (Sink<S>) (Sink<?>) blueprint.makeSink(stateful(ActorBehavior.ofSink(blueprint.settings())));
  }

  private ActorCell make(ActorBehavior behavior) {
    return blueprint.makeAndAdmit(stateful(behavior));
  }

  private ActorBehavior stateful(ActorBehavior behavior) {
    return new ActorBehavior.StatefulBehavior(blueprint.intercepted(behavior), initialState, stopHook, copyFunction);
  }
}
