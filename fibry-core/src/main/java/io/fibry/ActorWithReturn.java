package io.fibry;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * An actor that answers every message with an {@code R}: a function with a mailbox. If {@code M} is
 * a {@link Request}, let {@code R} be the type of answer that the request declares. With another
 * {@code R}, {@link Actor#ask(Request)} throws a ClassCastException. Thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="openWithReturn"}
 *
 * @param <M> the type of the messages
 * @param <R> the type of the answers
 */
public interface ActorWithReturn<M, R> extends Actor<M> {

  /**
   * Sends a message and waits for the answer, as {@link Actor#ask(Request)} does.
   *
   * @param message never null
   * @return the answer
   */
  R ask(M message);

  /**
   * Sends a message and waits at most {@code limit} for the answer.
   *
   * @param message never null
   * @param limit how long to wait at most; more than zero
   * @return the answer
   * @see Actor#ask(Request, Duration)
   */
  R ask(M message, Duration limit);

  /**
   * Sends a message and returns a future of the answer, as
   * {@link Actor#sendMessageReturn(Request)} does.
   *
   * @param message never null
   * @return completes with the answer or a failure
   */
  CompletableFuture<R> sendMessageReturn(M message);

  /**
   * Sends a message and returns a future of the answer, which fails with an
   * {@link AskTimeoutException} when the limit is over.
   *
   * @param message never null
   * @param limit more than zero
   * @return completes with the answer or a failure
   * @see Actor#sendMessageReturn(Request, Duration)
   */
  CompletableFuture<R> sendMessageReturn(M message, Duration limit);

  @Override
  ActorWithReturn<M, R> closeOnExit(AutoCloseable... resources);
}
