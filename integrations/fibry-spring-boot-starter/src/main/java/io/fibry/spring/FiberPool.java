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
 * A bounded pool of fibers for tasks, in its own scope: it survives when a failure closes the
 * application's scope. It is no {@code Executor}, because Spring would take the bean for its own.
 */
record FiberPool(ActorScope scope, Sink<Void> sink) implements AutoCloseable {

  static FiberPool open(String name, int concurrency, int waiting, UnaryOperator<ActorScope.Options> options) {
    var scope = ActorSystem.openScope(name, options);
    return new FiberPool(scope,
        Pools.fixed(scope.named(name).strategy(Strategy.FIBER).mailbox(Mailbox.bounded(waiting, Overflow.REJECT)),
            concurrency).newSink());
  }

  /** For a context that fails before its start; otherwise the scope is closed already. */
  @Override
  public void close() {
    scope.close();
  }

  /** The application's scope comes first. */
  static List<ActorScope> scopes(ActorScope scope, ObjectProvider<FiberPool> pools) {
    return Stream.concat(Stream.of(scope), pools.orderedStream().map(FiberPool::scope)).toList();
  }
}
