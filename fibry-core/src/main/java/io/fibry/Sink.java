package io.fibry;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * An actor around any object. Its messages are code, and the actor calls this code with the object,
 * one message at a time. A sink is thread-safe, even if its object is not.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="sink"}
 *
 * @param <S> the type of the object
 */
public interface Sink<S> extends Exitable, Executor {

  /**
   * Sends code to the sink, and does not wait until it has run.
   *
   * @param code called with the object
   * @return true if the mailbox accepted the code. False if the mailbox refused the code or the
   * sink has ended; the code then becomes a dead letter
   */
  boolean execAsync(Handler<S> code);

  /**
   * Sends code to the sink, and waits without a limit until it has run.
   *
   * @param code called with the object; an exception that it throws is thrown to the caller
   * @throws RequestException if the code did not run to its end
   * @throws java.util.concurrent.CancellationException if the thread is interrupted; the interrupt
   * flag stays set
   */
  void execAndWait(Handler<S> code);

  /**
   * Sends code to the sink, and returns a future of its value, as
   * {@link Actor#sendMessageReturn(Request)} does.
   *
   * @param <R> the type of the value
   * @param code called with the object; never returns null
   * @return completes with the value that the code returns, or with a failure
   */
  <R> CompletableFuture<R> execFuture(Handler.Returning<S, R> code);

  /**
   * Sends code to the sink, and waits for its value, as {@link Actor#ask(Request)} does.
   *
   * @param <R> the type of the value
   * @param code called with the object; never returns null
   * @return the value that the code returns
   */
  <R> R ask(Handler.Returning<S, R> code);

  /**
   * Sends code to the sink, and waits at most {@code limit} for its value, as
   * {@link Actor#ask(Request, Duration)} does.
   *
   * @param <R> the type of the value
   * @param code called with the object; never returns null
   * @param limit how long to wait at most; more than zero
   * @return the value that the code returns
   */
  <R> R ask(Handler.Returning<S, R> code, Duration limit);

  /**
   * Queues a task, which runs on the sink's thread like code that was sent to the sink.
   *
   * @param task never null
   * @throws java.util.concurrent.RejectedExecutionException if the mailbox refuses the task or the
   * sink has ended
   */
  @Override
  void execute(Runnable task);

  @Override
  Sink<S> closeOnExit(AutoCloseable... resources);
}
