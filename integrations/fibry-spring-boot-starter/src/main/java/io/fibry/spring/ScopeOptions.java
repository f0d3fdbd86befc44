package io.fibry.spring;

import io.fibry.ActorScope;
import io.fibry.ContextPropagator;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The settings that the application's scopes share.
 *
 * @param timing adds meters of message times; null if there are none
 */
record ScopeOptions(FibryProperties properties, List<ContextPropagator<?>> propagators,
    @Nullable MessageTiming timing) {

  UnaryOperator<ActorScope.Options> of(String scope) {
    return options -> {
      var result = withoutPropagators(scope).apply(options);
      for (var propagator : propagators) result = result.withContextPropagator(propagator);
      return result;
    };
  }

  /** Returns the options of a scope whose senders have no context. */
  UnaryOperator<ActorScope.Options> withoutPropagators(String scope) {
    return options -> {
      var result = properties.applyTo(options);
      return timing == null ? result : timing.applyTo(result, scope);
    };
  }
}
