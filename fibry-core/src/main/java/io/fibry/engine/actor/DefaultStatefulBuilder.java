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

/** A builder of actors that have state; {@code stopHook} and {@code copyFunction} may be null. */
@SuppressWarnings("unchecked") // the signatures of ActorBuilder check the types
record DefaultStatefulBuilder<S, M>(DefaultActorBuilder<M> builder, Callable<?> initialState,
    Handler<Object> stopHook,
    Handler.Returning<Object, Object> copyFunction) implements ActorBuilder.Stateful<S, M> {
  @Override
  public ActorBuilder.Stateful<S, M> onStop(Handler<S> hook) {
    return new DefaultStatefulBuilder<>(builder, initialState, (Handler<Object>) Objects.requireNonNull(hook, "hook"),
        copyFunction);
  }

  @Override
  public ActorBuilder.Stateful<S, M> rollback(Handler.Returning<S, S> copy) {
    return new DefaultStatefulBuilder<>(builder, initialState, stopHook,
        (Handler.Returning<Object, Object>) (Handler.Returning<?, ?>) Objects.requireNonNull(copy, "copy"));
  }

  private <N> ActorBuilder.Stateful<S, N> withBuilder(ActorBuilder<N> newBuilder) {
    return new DefaultStatefulBuilder<>((DefaultActorBuilder<N>) newBuilder, initialState, stopHook, copyFunction);
  }

  @Override
  public ActorBuilder.Stateful<S, M> strategy(Strategy strategy) {
    return withBuilder(builder.strategy(strategy));
  }

  @Override
  public <N extends M> ActorBuilder.Stateful<S, N> mailbox(Mailbox<? super N> mailbox) {
    return withBuilder(builder.<N>mailbox(mailbox));
  }

  @Override
  public ActorBuilder.Stateful<S, M> onFailure(FailurePolicy policy) {
    return withBuilder(builder.onFailure(policy));
  }

  @Override
  public <N extends M> ActorBuilder.Stateful<S, N> protocol(Class<N> type) {
    return withBuilder(builder.protocol(type));
  }

  @Override
  public <N extends M> ActorBuilder.Stateful<S, N> intercept(Handler.Interceptor<? super N> interceptor) {
    return withBuilder(builder.<N>intercept(interceptor));
  }

  @Override
  public ActorBuilder.Stateful<S, M> inlineRequests() {
    return withBuilder(builder.inlineRequests());
  }

  @Override
  public <N extends M> Actor<N> newActor(Handler.Stateful<S, N> handler) {
    return (Actor<N>) make(
        ActorBehavior.stateful(builder.settings(),
            (Handler.Stateful<Object, Object>) DefaultActorBuilder.checked(handler)));
  }

  @Override
  public <N extends M> Actor<N> newActor(Handler.StatefulWithContext<S, N> handler) {
    return (Actor<N>) make(ActorBehavior.statefulWithContext(builder.settings(),
        (Handler.StatefulWithContext<Object, Object>) DefaultActorBuilder.checked(handler)));
  }

  @Override
  public <N extends M, R> ActorWithReturn<N, R> newActorWithReturn(Handler.StatefulReturning<S, N, R> handler) {
    return (ActorWithReturn<N, R>) make(ActorBehavior.statefulReturning(builder.settings(),
        (Handler.StatefulReturning<Object, Object, Object>) DefaultActorBuilder.checked(handler)));
  }

  @Override
  public <N extends M,
      R> ActorWithReturn<N, R> newActorWithReturn(Handler.StatefulReturningWithContext<S, N, R> handler) {
    return (ActorWithReturn<N, R>) make(ActorBehavior.statefulReturningWithContext(builder.settings(),
        (Handler.StatefulReturningWithContext<Object, Object, Object>) DefaultActorBuilder.checked(handler)));
  }

  @Override
  public Sink<S> newSink() {
    return (Sink<S>) (Sink<?>) builder.makeSink(stateful(ActorBehavior.ofSink(builder.settings())));
  }

  private ActorCell make(ActorBehavior behavior) {
    return builder.makeAndAdmit(stateful(behavior));
  }

  private ActorBehavior stateful(ActorBehavior behavior) {
    return new ActorBehavior.StatefulBehavior(builder.intercepted(behavior), initialState, stopHook, copyFunction);
  }
}
