package io.fibry;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Any object as an actor: runs code on it, one piece at a time. Thread-safe, so the object need not
 * be.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="sink"}
 *
 * @param <S> the object
 */
public interface Sink<S> extends Exitable, Executor {

  /**
   * Runs it some time; does not wait.
   *
   * @param code what to do with the object
   * @return false if it was refused (full, or ended): it is a dead letter then
   */
  boolean execAsync(Handler<S> code);

  /**
   * Runs it and waits until it ran, however long that takes.
   *
   * @param code what to do with the object; what it throws is thrown here
   * @throws RequestException if it never ran
   * @throws java.util.concurrent.CancellationException if the waiting thread is interrupted; the
   * flag is kept
   */
  void execAndWait(Handler<S> code);

  /**
   * Runs it; the future has its value.
   *
   * @param <R> the value
   * @param code answers a value; never null
   * @return completes with the value; completing it from outside cancels the request
   * @see Actor#sendMessageReturn(Request)
   */
  <R> CompletableFuture<R> execFuture(Handler.Returning<S, R> code);

  /**
   * Runs it and waits for its value, at most as long as the scope says.
   *
   * @param <R> the value
   * @param code answers a value; never null
   * @return the value
   * @see Actor#ask(Request)
   */
  <R> R ask(Handler.Returning<S, R> code);

  /**
   * Runs it and waits for its value, at most so long.
   *
   * @param <R> the value
   * @param code answers a value; never null
   * @param limit how long at most
   * @return the value
   * @see Actor#ask(Request)
   */
  <R> R ask(Handler.Returning<S, R> code, Duration limit);

  /**
   * Runs the task on the actor's thread, in turn with the others.
   *
   * @param task never null
   * @throws java.util.concurrent.RejectedExecutionException where {@link #execAsync} answers false
   */
  @Override
  void execute(Runnable task);

  @Override
  Sink<S> closeOnExit(AutoCloseable... resources);
}
