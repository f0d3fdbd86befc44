package io.fibry.spring;

import io.fibry.ActorScope;

/**
 * Adds meters to the options of a scope. They measure how long messages wait, and how long their
 * handling takes. The implementation needs Micrometer, which is optional.
 */
interface MessageTiming {
  ActorScope.Options applyTo(ActorScope.Options options, String scope);
}
