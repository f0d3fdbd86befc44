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
   * Queues the code and returns at once.
   *
   * @param code takes the object
   * @return false if refused, full or ended: it is then a dead letter
   */
  boolean execAsync(Handler<S> code);

  /**
   * Runs the code and waits for it, without a limit.
   *
   * @param code takes the object; an exception that it throws is thrown to the caller
   * @throws RequestException if it never ran
   * @throws java.util.concurrent.CancellationException if interrupted, keeping the flag
   */
  void execAndWait(Handler<S> code);

  /**
   * {@return a future of the value of the code, as from {@link Actor#sendMessageReturn(Request)}}
   *
   * @param <R> value
   * @param code never returns null
   */
  <R> CompletableFuture<R> execFuture(Handler.Returning<S, R> code);

  /**
   * {@return the value of the code, awaited as by {@link Actor#ask(Request)}}
   *
   * @param <R> value
   * @param code never returns null
   */
  <R> R ask(Handler.Returning<S, R> code);

  /**
   * {@return the value of the code, awaited as by {@link Actor#ask(Request, Duration)}}
   *
   * @param <R> value
   * @param code never returns null
   * @param limit how long at most
   */
  <R> R ask(Handler.Returning<S, R> code, Duration limit);

  /**
   * Runs a task on the actor's thread, in turn with the others.
   *
   * @param task never null
   * @throws java.util.concurrent.RejectedExecutionException where {@link #execAsync} returns false
   */
  @Override
  void execute(Runnable task);

  @Override
  Sink<S> closeOnExit(AutoCloseable... resources);
}
