package io.fibry.spring;

import io.fibry.ActorScope;

/**
 * Times the messages of scopes. An interface, since who times them may not be on the class path.
 */
interface MessageTiming {
  ActorScope.Options applyTo(ActorScope.Options options, String scope);
}
