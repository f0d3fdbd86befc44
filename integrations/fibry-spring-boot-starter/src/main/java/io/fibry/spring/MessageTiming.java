package io.fibry.spring;

import io.fibry.ActorScope;

/** Adds message timers to a scope. Its implementation needs Micrometer, which is optional. */
interface MessageTiming {
  ActorScope.Options applyTo(ActorScope.Options options, String scope);
}
