package io.fibry.spring;

import io.fibry.ActorScope;
import io.fibry.Exitable;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.DestructionAwareBeanPostProcessor;

/**
 * Where a start failed, closes the scope before the first of its actors is destroyed: Spring would
 * call the close of the actor, which waits for all its messages and knows no limit, and a handler
 * that hangs would keep the process for ever. After the usual end the scope is closed already.
 */
final class FailedStartCleanup implements DestructionAwareBeanPostProcessor {
  private final ConfigurableListableBeanFactory beans;
  private final List<ActorScope> scopes = new CopyOnWriteArrayList<>();

  FailedStartCleanup(ConfigurableListableBeanFactory beans) {
    this.beans = beans;
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String name) {
    if (bean instanceof ActorScope scope) scopes.add(scope);
    return bean;
  }

  @Override
  public boolean requiresDestruction(Object bean) {
    return bean instanceof Exitable;
  }

  /** Singletons only: those of a web request, say, are destroyed in the middle of life. */
  @Override
  public void postProcessBeforeDestruction(Object bean, String name) {
    if (beans.containsBeanDefinition(name) && beans.getMergedBeanDefinition(name).isSingleton())
      scopes.forEach(ActorScope::close);
  }
}
