package io.fibry.spring;

import io.fibry.ActorScope;

/**
 * Adds meters to the options of a scope, which measure how long its messages wait and are handled.
 * The implementation needs Micrometer, which is optional.
 */
interface MessageTiming {
  ActorScope.Options applyTo(ActorScope.Options options, String scope);
}
