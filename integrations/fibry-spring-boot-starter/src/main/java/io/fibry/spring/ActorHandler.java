package io.fibry.spring;

import io.fibry.mailbox.Overflow;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Makes an actor whose handler is the annotated bean: a class, or the result of a {@code @Bean}
 * method. The bean must be a singleton of one of the handler types below, with type arguments. Its
 * actor is a bean of the type after the colon:
 *
 * <ul>
 * <li>{@code Handler<M>} or {@code Handler.WithContext<M>}: an {@code Actor<M>};
 * <li>{@code Handler.Returning<M, R>} or {@code Handler.ReturningWithContext<M, R>}: an
 * {@code ActorWithReturn<M, R>}.</ul>
 *
 * {@snippet class="io.fibry.spring.ReadmeBeansTest" region="handler"}
 *
 * <p>Only the actor calls the handler, so the fields of the handler are the actor's state. The name
 * of the actor's bean is the name of the handler's bean plus {@code Actor}. The actor belongs to
 * the application's scope. For all other settings, write a {@code @Bean} method that takes the
 * {@code ActorScope}.
 */
@Documented
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
public @interface ActorHandler {

  /**
   * The actor's name.
   *
   * @return the name of the actor, or empty for the name of the bean
   */
  String value() default "";

  /**
   * The mailbox's capacity.
   *
   * @return how many messages may wait, or 0 for the scope's default
   */
  int capacity() default 0;

  /**
   * The rule for a message that arrives while the mailbox is full.
   *
   * @return the rule; unused if {@link #capacity} is 0
   */
  Overflow overflow() default Overflow.REJECT;
}
