package io.fibry.spring;

import io.fibry.ActorScope;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import org.springframework.beans.factory.BeanCreationNotAllowedException;
import org.springframework.beans.factory.config.DestructionAwareBeanPostProcessor;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;

/**
 * Closes the scopes after a failed start, before Spring destroys the actor beans and the beans that
 * actors need. Closing a scope has a time limit. Closing an actor bean has none, so a handler that
 * hangs would block the process.
 */
final class FailedStartCleanup implements DestructionAwareBeanPostProcessor {
  private static final String PROBE = FailedStartCleanup.class.getName() + ".probe"; // name of a singleton

  private final DefaultListableBeanFactory beans;
  // the beans that Spring may destroy only after the scopes are closed, if the start failed
  private final Predicate<Object> mustOutliveScopes;
  private final List<ActorScope> scopes = new CopyOnWriteArrayList<>();

  FailedStartCleanup(DefaultListableBeanFactory beans, Predicate<Object> mustOutliveScopes) {
    this.beans = beans;
    this.mustOutliveScopes = mustOutliveScopes;
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String name) {
    if (bean instanceof ActorScope scope) scopes.add(scope);
    return bean;
  }

  @Override
  public boolean requiresDestruction(Object bean) {
    return mustOutliveScopes.test(bean);
  }

  /** Ignores a single bean that is destroyed, because the application continues without it. */
  @Override
  public void postProcessBeforeDestruction(Object bean, String name) {
    if (areAllSingletonsDestroyed()) scopes.forEach(ActorScope::close);
  }

  /**
   * Returns whether Spring is destroying all singletons, because the start has failed or the
   * context closes. Spring refuses to create a singleton only during that time.
   */
  private boolean areAllSingletonsDestroyed() {
    try {
      beans.getSingleton(PROBE, Object::new);
      beans.destroySingleton(PROBE);
      return false;
    } catch (BeanCreationNotAllowedException destroying) {
      return true;
    }
  }
}
