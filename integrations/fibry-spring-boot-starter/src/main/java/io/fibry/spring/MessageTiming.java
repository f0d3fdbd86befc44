package io.fibry.spring;

import io.fibry.ActorScope;

/** Adds timers to a scope. Its implementation needs Micrometer, which may be absent. */
interface MessageTiming {
  ActorScope.Options applyTo(ActorScope.Options options, String scope);
}
