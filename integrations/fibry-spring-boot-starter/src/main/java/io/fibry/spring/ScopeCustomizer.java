package io.fibry.spring;

import io.fibry.ActorScope;

/**
 * Changes the options of the application's scope after the properties, for settings that have no
 * property, such as a failure policy or a listener to dead letters. Spring calls every bean of this
 * type once, in their order, when the scope is made.
 */
@FunctionalInterface
public interface ScopeCustomizer {

  /**
   * Changes the options.
   *
   * @param options the options that the properties define
   * @return a changed copy
   */
  ActorScope.Options customize(ActorScope.Options options);
}
