package io.fibry.spring;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Sink;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.springframework.beans.factory.ObjectProvider;

/**
 * An executor that is an actor: so many fibers at once, so many tasks waiting, one more is refused.
 * It has a scope of its own, so that it outlives a scope that a failure closes, and its counts are
 * not mixed with those of messages. It is no {@code Executor} itself: as a bean it would be taken
 * for the application's.
 */
record FiberPool(ActorScope scope, Sink<Void> sink) implements AutoCloseable {

  static FiberPool open(String name, int concurrency, int waiting, UnaryOperator<ActorScope.Options> options) {
    var scope = ActorSystem.openScope(name, options);
    return new FiberPool(scope,
        Pools.fixed(scope.named(name).strategy(Strategy.FIBER).mailbox(Mailbox.bounded(waiting, Overflow.REJECT)),
            concurrency).newSink());
  }

  /** Where the context came to grief before it was started; else it is closed already. */
  @Override
  public void close() {
    scope.close();
  }

  /** The application's scope, then those of its pools. */
  static List<ActorScope> scopes(ActorScope scope, ObjectProvider<FiberPool> pools) {
    return Stream.concat(Stream.of(scope), pools.orderedStream().map(FiberPool::scope)).toList();
  }
}
