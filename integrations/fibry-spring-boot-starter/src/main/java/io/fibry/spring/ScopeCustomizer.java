package io.fibry.spring;

import io.fibry.ActorScope;

/**
 * Changes the options of the application's scope, for settings without a property, such as a
 * failure policy. The beans of this type are called once each, in the order that Spring gives them,
 * after the properties are applied.
 */
@FunctionalInterface
public interface ScopeCustomizer {

  /**
   * Changes the options.
   *
   * @param options the options that the properties set
   * @return a changed copy
   */
  ActorScope.Options customize(ActorScope.Options options);
}
