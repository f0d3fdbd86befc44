package io.fibry.spring;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorWithReturn;
import io.fibry.Handler;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.springframework.beans.factory.support.BeanDefinitionValidationException;
import org.springframework.core.ResolvableType;

/** The types of handlers that a bean may have, each with the type of its actor. */
@SuppressWarnings("unchecked") // the bean's type has these arguments
enum HandlerKind {
  HANDLER(Handler.class, Actor.class, (actor, bean) -> actor.newActor((Handler<Object>) bean)),
  IN_CONTEXT(Handler.WithContext.class, Actor.class,
      (actor, bean) -> actor.newActor((Handler.WithContext<Object>) bean)),
  RETURNING(Handler.Returning.class, ActorWithReturn.class,
      (actor, bean) -> actor.newActorWithReturn((Handler.Returning<Object, Object>) bean)),
  RETURNING_IN_CONTEXT(Handler.ReturningWithContext.class, ActorWithReturn.class,
      (actor, bean) -> actor.newActorWithReturn((Handler.ReturningWithContext<Object, Object>) bean));

  private static final String ALL =
      "Handler<M>, Handler.WithContext<M>, Handler.Returning<M, R> or Handler.ReturningWithContext<M, R>";

  private final Class<?> handler;
  private final Class<?> actor;
  private final BiFunction<ActorBuilder<Object>, Object, Actor<Object>> maker;

  HandlerKind(Class<?> handler, Class<?> actor, BiFunction<ActorBuilder<Object>, Object, Actor<Object>> maker) {
    this.handler = handler;
    this.actor = actor;
    this.maker = maker;
  }

  Actor<Object> newActor(ActorBuilder<Object> builder, Object bean) {
    return maker.apply(builder, bean);
  }

  static HandlerKind of(String bean, ResolvableType type) {
    var found = Stream.of(values()).filter(kind -> type.as(kind.handler) != ResolvableType.NONE).toList();
    if (found.isEmpty()) throw refusal(bean, type, "handles no messages; implement " + ALL);
    if (found.size() > 1) throw refusal(bean, type, "implements " + found.size() + " kinds of handlers ("
        + found.stream().map(kind -> kind.handler.getSimpleName()).toList() + "); implement one of them");
    return found.getFirst();
  }

  Class<Object> message(String bean, ResolvableType type) {
    var message = type.as(handler).getGeneric(0).resolve();
    if (message == null) throw refusal(bean, type, "does not declare the type of its messages; declare it in the "
        + "class, or as the return type of the @Bean method, such as " + handler.getSimpleName() + "<Order, ..>");
    return (Class<Object>) message;
  }

  private static BeanDefinitionValidationException refusal(String bean, ResolvableType type, String reason) {
    return new BeanDefinitionValidationException(
        "bean '" + bean + "' is marked @ActorHandler, but " + type + " " + reason);
  }

  /** The type to inject. */
  ResolvableType actor(ResolvableType type) {
    return ResolvableType.forClassWithGenerics(actor, type.as(handler).getGenerics());
  }
}
