package io.fibry.engine.actor;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorWithReturn;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.Sink;
import io.fibry.Strategy;
import io.fibry.engine.cell.ActorBehavior;
import io.fibry.engine.cell.ActorBehavior.StateFunctions;
import io.fibry.mailbox.Mailbox;
import java.util.Objects;
import java.util.concurrent.Callable;

/** A builder of actors that have state. All its actors share one {@link StateFunctions}. */
@SuppressWarnings("unchecked") // the signatures of ActorBuilder check the types
final class DefaultStatefulBuilder<S, M> implements ActorBuilder.Stateful<S, M> {
  private final DefaultActorBuilder<M> builder;
  private final StateFunctions functions;
  // The behavior of the last sink, which the next sink uses if the settings have not changed.
  // Racing threads may each make an instance
  private volatile ActorBehavior lastSinkBehavior;

  /** The hook and the function may be null. */
  DefaultStatefulBuilder(DefaultActorBuilder<M> builder, Callable<?> initialState, Handler<Object> stopHook,
      Handler.Returning<Object, Object> copyFunction) {
    this.builder = builder;
    this.functions = new StateFunctions(initialState, stopHook, copyFunction, builder.interceptor());
  }

  @Override
  public ActorBuilder.Stateful<S, M> onStop(Handler<S> hook) {
    return new DefaultStatefulBuilder<>(builder, functions.initialState(),
        (Handler<Object>) Objects.requireNonNull(hook, "hook"), functions.copyFunction());
  }

  @Override
  public ActorBuilder.Stateful<S, M> rollback(Handler.Returning<S, S> copy) {
    return new DefaultStatefulBuilder<>(builder, functions.initialState(), functions.stopHook(),
        (Handler.Returning<Object, Object>) (Handler.Returning<?, ?>) Objects.requireNonNull(copy, "copy"));
  }

  private <N> ActorBuilder.Stateful<S, N> withBuilder(ActorBuilder<N> newBuilder) {
    return new DefaultStatefulBuilder<>((DefaultActorBuilder<N>) newBuilder, functions.initialState(),
        functions.stopHook(), functions.copyFunction());
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
    return (Actor<N>) builder.makeAndAdmit(ActorBehavior.stateful(builder.settings(), functions,
        (Handler.Stateful<Object, Object>) DefaultActorBuilder.checked(handler)));
  }

  @Override
  public <N extends M> Actor<N> newActor(Handler.StatefulWithContext<S, N> handler) {
    return (Actor<N>) builder.makeAndAdmit(ActorBehavior.statefulWithContext(builder.settings(), functions,
        (Handler.StatefulWithContext<Object, Object>) DefaultActorBuilder.checked(handler)));
  }

  @Override
  public <N extends M, R> ActorWithReturn<N, R> newActorWithReturn(Handler.StatefulReturning<S, N, R> handler) {
    return (ActorWithReturn<N, R>) builder.makeAndAdmit(ActorBehavior.statefulReturning(builder.settings(), functions,
        (Handler.StatefulReturning<Object, Object, Object>) DefaultActorBuilder.checked(handler)));
  }

  @Override
  public <N extends M,
      R> ActorWithReturn<N, R> newActorWithReturn(Handler.StatefulReturningWithContext<S, N, R> handler) {
    return (ActorWithReturn<N, R>) builder.makeAndAdmit(
        ActorBehavior.statefulReturningWithContext(builder.settings(), functions,
            (Handler.StatefulReturningWithContext<Object, Object, Object>) DefaultActorBuilder.checked(handler)));
  }

  @Override
  public Sink<S> newSink() {
    var currentSettings = builder.settings();
    var behavior = lastSinkBehavior;
    if (behavior == null || behavior.settings != currentSettings)
      lastSinkBehavior = behavior = ActorBehavior.statefulSink(currentSettings, functions);
    return (Sink<S>) (Sink<?>) builder.makeSink(behavior, null);
  }
}
