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
 * Registers an actor for each {@link ActorHandler} bean. Reads types only, so it fails before any
 * bean is made.
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
          + "' is marked @ActorHandler but is not a singleton, so its one actor would have several handlers; make it "
          + "a singleton, or make the actors with a builder");
    var actor = new RootBeanDefinition();
    actor.setTargetType(kind.actor(type));
    actor.setDependsOn(bean);
    actor.setDestroyMethodName(""); // its scope ends it, within a limit
    actor.setInstanceSupplier(() -> {
      var builder =
          beans.getBean(ActorScope.class).named(mark.value().isEmpty() ? bean : mark.value()).protocol(message);
      if (mark.capacity() != 0) builder = builder.mailbox(Mailbox.bounded(mark.capacity(), mark.overflow()));
      return kind.newActor(builder, beans.getBean(bean));
    });
    ((BeanDefinitionRegistry) beans).registerBeanDefinition(bean + "Actor", actor);
  }

  /** The type with its arguments, which the factory knows only after {@code getType}. */
  private static ResolvableType type(ConfigurableListableBeanFactory beans, String bean) {
    var raw = beans.getType(bean, false);
    var declared = beans.getMergedBeanDefinition(bean).getResolvableType();
    return declared.resolve() == null && raw != null ? ResolvableType.forClass(raw) : declared;
  }
}
