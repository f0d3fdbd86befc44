package io.fibry.spring;

import io.fibry.ActorScope;
import io.fibry.mailbox.Mailbox;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionValidationException;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.ResolvableType;

/**
 * Adds the actors of all {@link ActorHandler} beans. Looks at types only: no bean is made for it,
 * and what is wrong is said before any is.
 */
final class ActorRegistrar implements BeanFactoryPostProcessor {

  @Override
  public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
    for (var bean : beans.getBeanDefinitionNames()) {
      var mark = beans.findAnnotationOnBean(bean, ActorHandler.class, false);
      if (mark != null) register(beans, bean, mark);
    }
  }

  private static void register(ConfigurableListableBeanFactory beans, String bean, ActorHandler mark) {
    var type = type(beans, bean);
    var kind = HandlerKind.of(bean, type);
    var message = kind.message(bean, type);
    if (!beans.getMergedBeanDefinition(bean).isSingleton())
      throw new BeanDefinitionValidationException("bean '" + bean
          + "' is marked @ActorHandler and is no singleton, so its one actor would have several handlers; make it "
          + "a singleton, or make actors of a builder");
    var actor = new RootBeanDefinition();
    actor.setTargetType(kind.actor(type));
    actor.setDependsOn(bean);
    actor.setDestroyMethodName(""); // it ends with its scope, within the limit of that
    actor.setInstanceSupplier(() -> {
      var how = beans.getBean(ActorScope.class).named(mark.value().isEmpty() ? bean : mark.value()).protocol(message);
      return kind.newActor(mark.capacity() == 0 ? how : how.mailbox(Mailbox.bounded(mark.capacity(), mark.overflow())),
          beans.getBean(bean));
    });
    ((BeanDefinitionRegistry) beans).registerBeanDefinition(bean + "Actor", actor);
  }

  /** With its arguments; asking for the class first makes the factory find them. */
  private static ResolvableType type(ConfigurableListableBeanFactory beans, String bean) {
    var raw = beans.getType(bean, false);
    var declared = beans.getMergedBeanDefinition(bean).getResolvableType();
    return declared.resolve() == null && raw != null ? ResolvableType.forClass(raw) : declared;
  }
}
