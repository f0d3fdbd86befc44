package io.fibry.flow;

import io.fibry.ActorBuilder;
import io.fibry.Handler;

/**
 * A function with hooks before it, after it and on its errors. Hooks run on the caller's thread, or
 * on their own actors. Immutable; as thread-safe as the body and the hooks.
 * {@snippet class="io.fibry.FlowSnippetsTest" region="hooks"}
 *
 * <p>Hooks run, or start, in the order in which they were added. The caller gets the answer or the
 * exception of the body. A failed hook is logged, and affects neither the body, the caller nor
 * other hooks. If a hook throws an InterruptedException, the interrupt flag of the thread is set.
 *
 * <p>A hook on its own actor does not delay the call, obeys the builder's failure policy, and ends
 * with the builder's scope. If that scope is closed, the hook does not start, and this is logged.
 *
 * @param <M> message
 * @param <R> answer
 */
public interface HookedFunction<M, R> extends Handler.Returning<M, R> {

  /**
   * Wraps a function.
   *
   * @param <M> message
   * @param <R> answer
   * @param builder makes an actor for each call of an asynchronous hook ("shop/hook-7")
   * @param body the function
   * @return the function, without hooks
   */
  static <M, R> HookedFunction<M, R> around(ActorBuilder<?> builder, Handler.Returning<M, R> body) {
    return HookChain.of(builder, body);
  }

  /**
   * Runs a hook before the body.
   *
   * @param hook gets the message
   * @return a copy
   */
  HookedFunction<M, R> before(Handler<M> hook);

  /**
   * Starts a hook on an actor of its own, before the body runs.
   *
   * @param hook gets the message
   * @return a copy
   */
  HookedFunction<M, R> beforeAsync(Handler<M> hook);

  /**
   * Runs a hook after the body answered.
   *
   * @param hook gets message and answer
   * @return a copy
   */
  HookedFunction<M, R> after(After<M, R> hook);

  /**
   * Starts a hook on an actor of its own, after the body answered.
   *
   * @param hook gets message and answer
   * @return a copy
   */
  HookedFunction<M, R> afterAsync(After<M, R> hook);

  /**
   * Runs a hook when the body throws.
   *
   * @param hook gets message and failure
   * @return a copy
   */
  HookedFunction<M, R> onError(OnError<M> hook);

  /**
   * Starts a hook on an actor of its own, when the body throws.
   *
   * @param hook gets message and failure
   * @return a copy
   */
  HookedFunction<M, R> onErrorAsync(OnError<M> hook);

  /**
   * A hook after an answer.
   *
   * @param <M> message
   * @param <R> answer
   */
  @FunctionalInterface
  interface After<M, R> {
    /**
     * Runs the hook.
     *
     * @param message the message
     * @param reply the answer
     * @throws Exception a failure, which is logged
     */
    void after(M message, R reply) throws Exception;
  }

  /**
   * A hook on an error.
   *
   * @param <M> message
   */
  @FunctionalInterface
  interface OnError<M> {
    /**
     * Runs the hook.
     *
     * @param message the message
     * @param failure the exception of the body
     * @throws Exception a failure, which is logged
     */
    void onError(M message, Throwable failure) throws Exception;
  }
}
