package io.fibry.spring;

import io.fibry.mailbox.Overflow;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The bean is the handler of an actor, and the actor is a bean too. On a class, or on a
 * {@code @Bean} method. The bean is a singleton of exactly one of these types, with its arguments,
 * which say what kind of actor it is:
 *
 * <ul> <li>{@code Handler<M>} and {@code Handler.InContext<M>}: to be injected as {@code Actor<M>};
 * <li>{@code Handler.Returning<M, R>} and {@code Handler.ReturningInContext<M, R>}: to be injected
 * as {@code ActorWithReturn<M, R>}. </ul>
 *
 * {@snippet class="io.fibry.spring.ReadmeBeansTest" region="handler"}
 *
 * <p>The fields of the bean are the state of the actor: nobody else calls it. The bean of the actor
 * is called like that of the handler, with {@code Actor} behind. The actor lives in the scope of
 * the application, is made with the context and ends with the scope. Whatever else an actor may
 * need is told to a builder, in a {@code @Bean} method that is given the {@code ActorScope}.
 */
@Documented
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
public @interface ActorHandler {

  /**
   * The name of the actor in its scope.
   *
   * @return that of the bean, unless given
   */
  String value() default "";

  /**
   * How many messages may wait.
   *
   * @return 0: as the scope says
   */
  int capacity() default 0;

  /**
   * What happens to one too many, where there is a capacity.
   *
   * @return what to do
   */
  Overflow overflow() default Overflow.REJECT;
}
