package io.fibry.spring;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorWithReturn;
import io.fibry.Handler;
import java.util.stream.Stream;
import org.springframework.beans.factory.support.BeanDefinitionValidationException;
import org.springframework.core.ResolvableType;

/** The shapes of a handler that a bean may have, each with its kind of actor. */
// of a bean only its type is known; its arguments were read from there
@SuppressWarnings("unchecked")
enum HandlerKind {
  HANDLER(Handler.class, Actor.class) {
    @Override
    Actor<Object> newActor(ActorBuilder<Object> how, Object handler) {
      return how.newActor((Handler<Object>) handler);
    }
  },
  IN_CONTEXT(Handler.InContext.class, Actor.class) {
    @Override
    Actor<Object> newActor(ActorBuilder<Object> how, Object handler) {
      return how.newActor((Handler.InContext<Object>) handler);
    }
  },
  RETURNING(Handler.Returning.class, ActorWithReturn.class) {
    @Override
    Actor<Object> newActor(ActorBuilder<Object> how, Object handler) {
      return how.newActorWithReturn((Handler.Returning<Object, Object>) handler);
    }
  },
  RETURNING_IN_CONTEXT(Handler.ReturningInContext.class, ActorWithReturn.class) {
    @Override
    Actor<Object> newActor(ActorBuilder<Object> how, Object handler) {
      return how.newActorWithReturn((Handler.ReturningInContext<Object, Object>) handler);
    }
  };

  private static final String ALL =
      "Handler<M>, Handler.InContext<M>, Handler.Returning<M, R> or Handler.ReturningInContext<M, R>";

  private final Class<?> handler;
  private final Class<?> actor;

  HandlerKind(Class<?> handler, Class<?> actor) {
    this.handler = handler;
    this.actor = actor;
  }

  abstract Actor<Object> newActor(ActorBuilder<Object> how, Object handler);

  /** The one kind of this bean. */
  static HandlerKind of(String bean, ResolvableType type) {
    var found = Stream.of(values()).filter(kind -> type.as(kind.handler) != ResolvableType.NONE).toList();
    if (found.isEmpty()) throw new BeanDefinitionValidationException(
        "bean '" + bean + "' is marked @ActorHandler, and a " + type + " handles no messages; let it be a " + ALL);
    if (found.size() > 1)
      throw new BeanDefinitionValidationException("bean '" + bean + "' is marked @ActorHandler, and a " + type + " is "
          + found.size() + " handlers (" + found.stream().map(kind -> kind.handler.getSimpleName()).toList()
          + "), so nobody knows which one is meant; let it be one of them");
    return found.getFirst();
  }

  /** What its messages are. */
  Class<Object> message(String bean, ResolvableType type) {
    var message = type.as(handler).getGeneric(0).resolve();
    if (message == null)
      throw new BeanDefinitionValidationException("bean '" + bean + "' is marked @ActorHandler, and a " + type
          + " does not say what its messages are; say it in the type of the class, or of the @Bean method, as in "
          + handler.getSimpleName() + "<Order, ..>");
    return (Class<Object>) message;
  }

  /** What its actor is to be injected as. */
  ResolvableType actor(ResolvableType type) {
    return ResolvableType.forClassWithGenerics(actor, type.as(handler).getGenerics());
  }
}
