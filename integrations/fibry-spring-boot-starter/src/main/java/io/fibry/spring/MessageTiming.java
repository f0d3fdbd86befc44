package io.fibry.spring;

import io.fibry.ActorScope;

/** Adds timers to a scope. An interface, since the implementation needs Micrometer. */
interface MessageTiming {
  ActorScope.Options applyTo(ActorScope.Options options, String scope);
}
