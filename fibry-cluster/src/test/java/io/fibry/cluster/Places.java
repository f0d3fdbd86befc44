package io.fibry.cluster;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.Request;
import io.fibry.pool.Entities;
import java.time.Duration;
import java.util.function.Consumer;

/** Entities that answer with the name of their node. */
final class Places {
  record Where() implements Request<Where, String> {}

  private static final Duration IDLE = Duration.ofMinutes(5);

  private Places() {}

  static Entities<String, Where> host(Cluster node, ActorScope scope) {
    return host(node, scope, name -> {});
  }

  /** @param onHandled called with the name of the node for each request that the node handles */
  static Entities<String, Where> host(Cluster node, ActorScope scope, Consumer<String> onHandled) {
    String name = node.self().name();
    return node.host("place", Where.class, scope.anonymous(), IDLE, (builder, key) -> builder
        .newActor((Where where, ActorContext<Where> context) -> {
          onHandled.accept(name);
          context.reply(where, name);
        }));
  }
}
