package io.fibry.spring;

import io.fibry.mailbox.Overflow;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a bean as the handler of an actor, and makes the actor a bean too. Stands on a class or a
 * {@code @Bean} method. The bean must be a singleton of exactly one of these types, with its type
 * arguments:
 *
 * <ul> <li>{@code Handler<M>} or {@code Handler.InContext<M>}: the actor is injected as
 * {@code Actor<M>}; <li>{@code Handler.Returning<M, R>} or
 * {@code Handler.ReturningInContext<M, R>}: it is injected as {@code ActorWithReturn<M, R>}. </ul>
 *
 * {@snippet class="io.fibry.spring.ReadmeBeansTest" region="handler"}
 *
 * <p>The fields of the bean are the actor's state: only the actor calls the bean. The actor's bean
 * name is that of the handler plus {@code Actor}. The actor is made with the context, in the
 * application's scope, and ends with the scope. For all other settings, use a builder in a
 * {@code @Bean} method that takes the {@code ActorScope}.
 */
@Documented
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
public @interface ActorHandler {

  /**
   * The name of the actor in its scope.
   *
   * @return the name; empty: that of the bean
   */
  String value() default "";

  /**
   * The capacity of the mailbox.
   *
   * @return how many messages may wait; 0: the mailbox of the scope's options
   */
  int capacity() default 0;

  /**
   * What happens to a message that finds the mailbox full, if there is a capacity.
   *
   * @return the overflow policy
   */
  Overflow overflow() default Overflow.REJECT;
}
