package io.fibry.spring;

import io.fibry.ActorScope;

/**
 * Changes the options of the application's scope, after the properties: every bean of this type, in
 * their order. For what properties cannot say, such as a failure policy or a listener to dead
 * letters. Called once, when the scope is made.
 */
@FunctionalInterface
public interface ScopeCustomizer {

  /**
   * Changes the options.
   *
   * @param options as the properties say
   * @return a changed copy
   */
  ActorScope.Options customize(ActorScope.Options options);
}
