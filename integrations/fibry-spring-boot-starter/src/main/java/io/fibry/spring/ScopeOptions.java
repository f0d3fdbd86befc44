package io.fibry.spring;

import io.fibry.ActorScope;
import io.fibry.ContextPropagator;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The settings that the application's scopes share: properties, context propagators, timers. */
record ScopeOptions(FibryProperties properties, List<ContextPropagator<?>> carriers, @Nullable MessageTiming timing) {

  UnaryOperator<ActorScope.Options> of(String scope) {
    return options -> {
      var result = withoutCarriers(scope).apply(options);
      for (var propagator : carriers) result = result.withContextPropagator(propagator);
      return result;
    };
  }

  /** Returns the options of a scope whose senders have no context. */
  UnaryOperator<ActorScope.Options> withoutCarriers(String scope) {
    return options -> {
      var result = properties.applyTo(options);
      return timing == null ? result : timing.applyTo(result, scope);
    };
  }
}
