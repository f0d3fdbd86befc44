package io.fibry.spring;

import io.fibry.ActorScope;

/**
 * Adds meters to the options of a scope. They measure how long messages wait, and how long their
 * handling takes. The implementation needs Micrometer, which is optional. Applications do not use
 * this type; it is public for the package {@code monitoring}.
 */
public interface MessageTiming {

  /**
   * Adds the meters.
   *
   * @param options the options of the scope
   * @param scope the name of the scope
   * @return a changed copy
   */
  ActorScope.Options applyTo(ActorScope.Options options, String scope);
}
