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
 * Registers an actor for each {@link ActorHandler} bean. It reads only the types of the beans, so
 * an invalid type is an error before Spring makes the first bean.
 */
final class ActorRegistrar implements BeanFactoryPostProcessor {

  @Override
  public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
    for (var bean : beans.getBeanDefinitionNames()) {
      var annotation = beans.findAnnotationOnBean(bean, ActorHandler.class, false);
      if (annotation != null) register(beans, bean, annotation);
    }
  }

  private static void register(ConfigurableListableBeanFactory beans, String bean, ActorHandler annotation) {
    var type = type(beans, bean);
    var kind = HandlerKind.of(bean, type);
    var messageType = kind.messageType(bean, type);
    if (!beans.getMergedBeanDefinition(bean).isSingleton())
      throw new BeanDefinitionValidationException("bean '" + bean
          + "' is marked @ActorHandler but is not a singleton, so its one actor would have several handlers; make it "
          + "a singleton, or make the actors with a builder");
    var actor = new RootBeanDefinition();
    actor.setTargetType(kind.actorType(type));
    actor.setDependsOn(bean);
    actor.setDestroyMethodName(""); // the scope ends the actor, within the drain limit
    actor.setInstanceSupplier(() -> {
      var name = annotation.value().isEmpty() ? bean : annotation.value();
      var builder = beans.getBean(ActorScope.class).named(name).protocol(messageType);
      if (annotation.capacity() != 0)
        builder = builder.mailbox(Mailbox.bounded(annotation.capacity(), annotation.overflow()));
      return kind.newActor(builder, beans.getBean(bean));
    });
    ((BeanDefinitionRegistry) beans).registerBeanDefinition(bean + "Actor", actor);
  }

  /** Returns the type with its arguments; the factory may know them only after {@code getType}. */
  private static ResolvableType type(ConfigurableListableBeanFactory beans, String bean) {
    var rawType = beans.getType(bean, false);
    var declaredType = beans.getMergedBeanDefinition(bean).getResolvableType();
    return declaredType.resolve() == null && rawType != null ? ResolvableType.forClass(rawType) : declaredType;
  }
}
