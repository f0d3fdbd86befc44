package io.fibry.pool;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorWithReturn;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.spi.BlockBuilder;
import io.fibry.text.Lines;
import io.fibry.time.Scheduler;
import java.util.concurrent.Executor;

/**
 * Makes short-lived actors that work for the addresses of entities. These actors use the clock, ask
 * limit, context propagators and dead letters of the scope in which the entities were opened.
 */
final class EntityHelpers {
  private final BlockBuilder<?> builder;
  private final ActorScope innerScope; // owns the actors of the entities

  EntityHelpers(BlockBuilder<?> builder, ActorScope innerScope) {
    this.builder = builder;
    this.innerScope = innerScope;
  }

  Scheduler clock() {
    return builder.scheduler();
  }

  String describe(Object message) {
    return builder.describe(message);
  }

  String describeRequest(Object request) {
    return builder.describeRequest(request);
  }

  Executor capturedContext(Actor<?> recipient, Object message) {
    return builder.contextExecutor(recipient, message);
  }

  ActorBuilder<Object> siblingBuilder() {
    return builder.scope().anonymous();
  }

  static String name(Object key) {
    return "entity " + Lines.escaped(key.toString());
  }

  /** Returns an actor that has ended, so messages to it are dead letters. */
  <M> Actor<M> endedActor(String name) {
    Actor<M> actor =
        outerBuilder(name).strategy(Strategy.CALLER).mailbox(Mailbox.unbounded()).newActor(unused -> {});
    actor.askExit();
    return actor;
  }

  /**
   * Makes an actor that sends a request on behalf of another thread, which waits for this actor's
   * answer.
   */
  <A> ActorWithReturn<Object, A> relay(String name, Handler.ReturningWithContext<Object, A> handler) {
    return outerBuilder(name).excludedFromAccounts().strategy(Strategy.FIBER).mailbox(Mailbox.unbounded())
        .onFailure(FailurePolicy.resume().withoutLog()).newActorWithReturn(handler);
  }

  private BlockBuilder<Object> outerBuilder(String name) {
    return BlockBuilder.of(builder.scope().named(name)).inOuterScope();
  }

  /**
   * Runs code on the fiber of an actor in the inner scope, so that {@code awaitQuiescence} of the
   * scope waits for the code.
   *
   * @throws IllegalStateException if the entities have ended
   */
  void run(Runnable code) {
    var member =
        BlockBuilder.of(innerScope.anonymous()).excludedFromAccounts().strategy(Strategy.FIBER)
            .mailbox(Mailbox.unbounded())
            .newSink();
    member.execute(code);
    member.sendPoisonPill();
  }
}
