package io.fibry.flow;

import io.fibry.ActorBuilder;
import io.fibry.Handler;

/**
 * A function with code before it, after it and on its errors, each in line or in an actor of its
 * own. Immutable; as thread-safe as its parts.
 * {@snippet class="io.fibry.RecipeSnippetsTest" region="hooks"}
 *
 * <p>Hooks of a kind run, or are started, in the order given; those before, then the body, then
 * those after it or those on its error. The caller gets the body's answer, or what the body threw,
 * the very same. A hook that fails is logged and harms nobody: neither the body nor its caller nor
 * the other hooks; an interrupt that ended it is left for the body.
 *
 * <p>Nobody waits for a hook in an actor of its own. When it fails, the failure policy of the
 * builder decides; it ends with its scope; where that is closed it cannot be started, which is
 * logged.
 *
 * @param <M> what the function is given
 * @param <R> what it answers
 */
public interface Hooks<M, R> extends Handler.Returning<M, R> {

  /**
   * A function without hooks as yet.
   *
   * @param <M> what it is given
   * @param <R> what it answers
   * @param how makes the actors that the asynchronous hooks run on, one for each call of each;
   * named after it ("shop/hook-7")
   * @param body the function
   * @return the function
   */
  static <M, R> Hooks<M, R> around(ActorBuilder<?> how, Handler.Returning<M, R> body) {
    return HookChain.of(how, body);
  }

  /**
   * Runs this first.
   *
   * @param hook is given the message
   * @return a changed copy
   */
  Hooks<M, R> before(Handler<M> hook);

  /**
   * Starts this first.
   *
   * @param hook is given the message
   * @return a changed copy
   */
  Hooks<M, R> beforeAsync(Handler<M> hook);

  /**
   * Runs this once the body has answered, before its caller has the answer.
   *
   * @param hook is given message and answer
   * @return a changed copy
   */
  Hooks<M, R> after(After<M, R> hook);

  /**
   * Starts this once the body has answered.
   *
   * @param hook is given message and answer
   * @return a changed copy
   */
  Hooks<M, R> afterAsync(After<M, R> hook);

  /**
   * Runs this when the body has thrown something, an Error too, before its caller gets it.
   *
   * @param hook is given the message and what was thrown
   * @return a changed copy
   */
  Hooks<M, R> onError(OnError<M> hook);

  /**
   * Starts this when the body has thrown something, an Error too.
   *
   * @param hook is given the message and what was thrown
   * @return a changed copy
   */
  Hooks<M, R> onErrorAsync(OnError<M> hook);

  /**
   * Code for what was answered.
   *
   * @param <M> the message
   * @param <R> the answer
   */
  @FunctionalInterface
  interface After<M, R> {
    /**
     * Called after the body.
     *
     * @param message what the body was given
     * @param reply what it answered
     * @throws Exception which is logged
     */
    void after(M message, R reply) throws Exception;
  }

  /**
   * Code for what went wrong.
   *
   * @param <M> the message
   */
  @FunctionalInterface
  interface OnError<M> {
    /**
     * Called after the body.
     *
     * @param message what the body was given
     * @param failure what it threw
     * @throws Exception which is logged
     */
    void failed(M message, Throwable failure) throws Exception;
  }
}
