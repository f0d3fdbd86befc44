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
 * A pool of fibers for tasks, with a limit on those that run and on those that wait. Has its own
 * scope: the pool survives when a failure closes the application's scope, and its counts stay
 * apart. It does not implement {@code Executor}, since Spring would then take the bean for the
 * application's executor.
 */
record FiberPool(ActorScope scope, Sink<Void> sink) implements AutoCloseable {

  static FiberPool open(String name, int concurrency, int waiting, UnaryOperator<ActorScope.Options> options) {
    var scope = ActorSystem.openScope(name, options);
    return new FiberPool(scope,
        Pools.fixed(scope.named(name).strategy(Strategy.FIBER).mailbox(Mailbox.bounded(waiting, Overflow.REJECT)),
            concurrency).newSink());
  }

  /** Needed if the context fails before it has started; otherwise the scope is already closed. */
  @Override
  public void close() {
    scope.close();
  }

  /** The application's scope, then the scopes of its pools. */
  static List<ActorScope> scopes(ActorScope scope, ObjectProvider<FiberPool> pools) {
    return Stream.concat(Stream.of(scope), pools.orderedStream().map(FiberPool::scope)).toList();
  }
}
