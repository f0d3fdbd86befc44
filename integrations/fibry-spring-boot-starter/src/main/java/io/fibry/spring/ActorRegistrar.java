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
  public void postProcessBeanFactory(ConfigurableListableBeanFactory factory) {
    for (var beanName : factory.getBeanDefinitionNames()) {
      var annotation = factory.findAnnotationOnBean(beanName, ActorHandler.class, false);
      if (annotation != null) register(factory, beanName, annotation);
    }
  }

  private static void register(ConfigurableListableBeanFactory factory, String beanName, ActorHandler annotation) {
    var type = type(factory, beanName);
    var kind = HandlerKind.of(beanName, type);
    var messageType = kind.messageType(beanName, type);
    if (!factory.getMergedBeanDefinition(beanName).isSingleton())
      throw new BeanDefinitionValidationException("bean '" + beanName
          + "' is marked @ActorHandler but is not a singleton, so its one actor would have several handlers; make it "
          + "a singleton, or make the actors with a builder");
    var definition = new RootBeanDefinition();
    definition.setTargetType(kind.actorType(type));
    definition.setDependsOn(beanName);
    definition.setDestroyMethodName(""); // the scope ends the actor, within the drain limit
    definition.setInstanceSupplier(() -> {
      var name = annotation.value().isEmpty() ? beanName : annotation.value();
      var builder = factory.getBean(ActorScope.class).named(name).protocol(messageType);
      if (annotation.capacity() != 0)
        builder = builder.mailbox(Mailbox.bounded(annotation.capacity(), annotation.overflow()));
      return kind.newActor(builder, factory.getBean(beanName));
    });
    ((BeanDefinitionRegistry) factory).registerBeanDefinition(beanName + "Actor", definition);
  }

  /**
   * Returns the bean's type with its type arguments. Calls {@code getType} first, because the
   * factory may not have resolved the type before.
   */
  private static ResolvableType type(ConfigurableListableBeanFactory factory, String beanName) {
    var rawType = factory.getType(beanName, false);
    var declaredType = factory.getMergedBeanDefinition(beanName).getResolvableType();
    return declaredType.resolve() == null && rawType != null ? ResolvableType.forClass(rawType) : declaredType;
  }
}
