package io.fibry.spring;

import io.fibry.ActorScope;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.DestructionAwareBeanPostProcessor;

/**
 * Closes the scopes of a failed start before Spring destroys the first actor bean, and before it
 * destroys beans that actors need. The close of an actor bean has no limit, so a hanging handler
 * would block the process.
 */
final class FailedStartCleanup implements DestructionAwareBeanPostProcessor {
  private final ConfigurableListableBeanFactory beans;
  private final Predicate<Object> late; // beans that are destroyed after the scopes have closed
  private final List<ActorScope> scopes = new CopyOnWriteArrayList<>();

  FailedStartCleanup(ConfigurableListableBeanFactory beans, Predicate<Object> late) {
    this.beans = beans;
    this.late = late;
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String name) {
    if (bean instanceof ActorScope scope) scopes.add(scope);
    return bean;
  }

  @Override
  public boolean requiresDestruction(Object bean) {
    return late.test(bean);
  }

  /** Skips beans of other Spring scopes, which are destroyed while the application runs. */
  @Override
  public void postProcessBeforeDestruction(Object bean, String name) {
    if (beans.containsBeanDefinition(name) && beans.getMergedBeanDefinition(name).isSingleton())
      scopes.forEach(ActorScope::close);
  }
}
