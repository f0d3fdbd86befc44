package io.fibry.spring;

import io.fibry.ActorScope;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.DestructionAwareBeanPostProcessor;

/**
 * Closes the scopes after a failed start, before Spring destroys the actor beans and the beans that
 * actors need. Closing a scope has a time limit. Closing an actor bean has none, so a handler that
 * hangs would block the process.
 */
final class FailedStartCleanup implements DestructionAwareBeanPostProcessor {
  private final ConfigurableListableBeanFactory beans;
  private final Predicate<Object> mustOutliveScopes; // after a failed start
  private final List<ActorScope> scopes = new CopyOnWriteArrayList<>();

  FailedStartCleanup(ConfigurableListableBeanFactory beans, Predicate<Object> mustOutliveScopes) {
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

  /** Ignores beans other than singletons: Spring destroys them while the application runs. */
  @Override
  public void postProcessBeforeDestruction(Object bean, String name) {
    if (beans.containsBeanDefinition(name) && beans.getMergedBeanDefinition(name).isSingleton())
      scopes.forEach(ActorScope::close);
  }
}
