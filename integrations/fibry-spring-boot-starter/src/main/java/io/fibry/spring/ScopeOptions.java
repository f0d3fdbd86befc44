package io.fibry.spring;

import io.fibry.ActorScope;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * What the scopes of the application have in common: the properties, what messages take along, and
 * what times them.
 */
record ScopeOptions(FibryProperties properties, List<ActorScope.Carrier<?>> carriers, @Nullable MessageTiming timing) {

  /** For a scope of this name. */
  UnaryOperator<ActorScope.Options> of(String scope) {
    return options -> {
      var changed = withoutCarriers(scope).apply(options);
      for (var carrier : carriers) changed = changed.withCarrier(carrier);
      return changed;
    };
  }

  /** For a scope to whose messages nobody has anything to hand on. */
  UnaryOperator<ActorScope.Options> withoutCarriers(String scope) {
    return options -> {
      var changed = properties.applyTo(options);
      return timing == null ? changed : timing.applyTo(changed, scope);
    };
  }
}
