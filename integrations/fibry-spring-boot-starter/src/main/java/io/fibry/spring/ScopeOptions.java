package io.fibry.spring;

import io.fibry.ActorScope;
import io.fibry.ContextPropagator;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The settings that the application's scopes share: properties, carriers and timers. */
record ScopeOptions(FibryProperties properties, List<ContextPropagator<?>> carriers, @Nullable MessageTiming timing) {

  UnaryOperator<ActorScope.Options> of(String scope) {
    return options -> {
      var changed = withoutCarriers(scope).apply(options);
      for (var carrier : carriers) changed = changed.withContextPropagator(carrier);
      return changed;
    };
  }

  /** For a scope whose senders have no context. */
  UnaryOperator<ActorScope.Options> withoutCarriers(String scope) {
    return options -> {
      var changed = properties.applyTo(options);
      return timing == null ? changed : timing.applyTo(changed, scope);
    };
  }
}
