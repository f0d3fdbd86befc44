package io.fibry.spring;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorWithReturn;
import io.fibry.Handler;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.springframework.beans.factory.support.BeanDefinitionValidationException;
import org.springframework.core.ResolvableType;

/** The types of handlers that a bean may implement, each with the type of its actor. */
@SuppressWarnings("unchecked") // the type of the bean has the type arguments that the casts assume
enum HandlerKind {
  HANDLER(Handler.class, Actor.class, (builder, bean) -> builder.newActor((Handler<Object>) bean)),
  IN_CONTEXT(Handler.WithContext.class, Actor.class,
      (builder, bean) -> builder.newActor((Handler.WithContext<Object>) bean)),
  RETURNING(Handler.Returning.class, ActorWithReturn.class,
      (builder, bean) -> builder.newActorWithReturn((Handler.Returning<Object, Object>) bean)),
  RETURNING_IN_CONTEXT(Handler.ReturningWithContext.class, ActorWithReturn.class,
      (builder, bean) -> builder.newActorWithReturn((Handler.ReturningWithContext<Object, Object>) bean));

  private static final String HANDLER_TYPES =
      "Handler<M>, Handler.WithContext<M>, Handler.Returning<M, R> or Handler.ReturningWithContext<M, R>";

  private final Class<?> handlerType;
  private final Class<?> actorType;
  private final BiFunction<ActorBuilder<Object>, Object, Actor<Object>> factory;

  HandlerKind(Class<?> handlerType, Class<?> actorType,
      BiFunction<ActorBuilder<Object>, Object, Actor<Object>> factory) {
    this.handlerType = handlerType;
    this.actorType = actorType;
    this.factory = factory;
  }

  Actor<Object> newActor(ActorBuilder<Object> builder, Object bean) {
    return factory.apply(builder, bean);
  }

  static HandlerKind of(String bean, ResolvableType type) {
    var kinds = Stream.of(values()).filter(kind -> type.as(kind.handlerType) != ResolvableType.NONE).toList();
    if (kinds.isEmpty()) throw refusal(bean, type, "handles no messages; implement " + HANDLER_TYPES);
    if (kinds.size() > 1) throw refusal(bean, type, "implements " + kinds.size() + " kinds of handlers ("
        + kinds.stream().map(kind -> kind.handlerType.getSimpleName()).toList() + "); implement one of them");
    return kinds.getFirst();
  }

  Class<Object> messageType(String bean, ResolvableType type) {
    var messageType = type.as(handlerType).getGeneric(0).resolve();
    if (messageType == null) throw refusal(bean, type, "does not declare the type of its messages; declare it in the "
        + "class, or as the return type of the @Bean method, such as " + handlerType.getSimpleName() + "<Order, ..>");
    return (Class<Object>) messageType;
  }

  private static BeanDefinitionValidationException refusal(String bean, ResolvableType type, String reason) {
    return new BeanDefinitionValidationException(
        "bean '" + bean + "' is marked @ActorHandler, but " + type + " " + reason);
  }

  /** Returns the type of the actor for a handler of this type, with its type arguments. */
  ResolvableType actorType(ResolvableType type) {
    return ResolvableType.forClassWithGenerics(actorType, type.as(handlerType).getGenerics());
  }
}
