package io.fibry;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * An actor that answers every message with an {@code R}: a function with a mailbox. Thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="withReturn"}
 *
 * @param <M> the messages
 * @param <R> the answers
 */
public interface ActorWithReturn<M, R> extends Actor<M> {

  /**
   * Sends a message and waits for the answer, at most as long as the scope says.
   *
   * @param message never null
   * @return the answer
   * @see Actor#ask(Request)
   */
  R ask(M message);

  /**
   * Sends a message and waits for the answer, at most so long.
   *
   * @param message never null
   * @param limit how long at most
   * @return the answer
   * @see Actor#ask(Request)
   */
  R ask(M message, Duration limit);

  /**
   * Sends a message; completing the future from outside cancels the request.
   *
   * @param message never null
   * @return completes with the answer
   * @see Actor#sendMessageReturn(Request)
   */
  CompletableFuture<R> sendMessageReturn(M message);

  @Override
  ActorWithReturn<M, R> closeOnExit(AutoCloseable... resources);
}
