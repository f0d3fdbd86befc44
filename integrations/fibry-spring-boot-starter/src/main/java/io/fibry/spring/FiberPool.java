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
 * A bounded pool of fibers for tasks. It has its own scope, so it survives when a failure closes
 * the application's scope. It is not an {@code Executor}, because Spring would use such a bean as
 * its own executor. Applications do not use this type; it is public for the package
 * {@code monitoring}.
 *
 * @param scope the scope of the pool's workers
 * @param sink runs tasks
 */
public record FiberPool(ActorScope scope, Sink<Void> sink) implements AutoCloseable {

  static FiberPool open(String name, int concurrency, int maxQueued, UnaryOperator<ActorScope.Options> options) {
    var scope = ActorSystem.openScope(name, options);
    return new FiberPool(scope,
        Pools.fixed(scope.named(name).strategy(Strategy.FIBER).mailbox(Mailbox.bounded(maxQueued, Overflow.REJECT)),
            concurrency).newSink());
  }

  /** Closes the scope. This is needed only if the start of the context fails. */
  @Override
  public void close() {
    scope.close();
  }

  /**
   * Returns the scopes that operators see.
   *
   * @param scope the application's scope
   * @param pools the pools of the context
   * @return the application's scope, followed by the scopes of the pools
   */
  public static List<ActorScope> scopes(ActorScope scope, ObjectProvider<FiberPool> pools) {
    return Stream.concat(Stream.of(scope), pools.orderedStream().map(FiberPool::scope)).toList();
  }
}
