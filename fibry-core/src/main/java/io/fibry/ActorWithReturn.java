package io.fibry;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * An actor that answers every message with an {@code R}: a function with a mailbox. Where {@code M}
 * is a {@link Request}, let {@code R} be the answer that the request declares.
 * {@link Actor#ask(Request)} throws a ClassCastException if the handler returns another type.
 * Thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="openWithReturn"}
 *
 * @param <M> messages
 * @param <R> answers
 */
public interface ActorWithReturn<M, R> extends Actor<M> {

  /**
   * {@return the answer to a message, awaited as by {@link Actor#ask(Request)}}
   *
   * @param message never null
   */
  R ask(M message);

  /**
   * {@return the answer to a message, awaited as by {@link Actor#ask(Request, Duration)}}
   *
   * @param message never null
   * @param limit how long at most
   */
  R ask(M message, Duration limit);

  /**
   * {@return a future of the answer, as from {@link Actor#sendMessageReturn(Request)}}
   *
   * @param message never null
   */
  CompletableFuture<R> sendMessageReturn(M message);

  /**
   * {@return a future of the answer, as from {@link Actor#sendMessageReturn(Request, Duration)}}
   *
   * @param message never null
   * @param limit more than zero
   */
  CompletableFuture<R> sendMessageReturn(M message, Duration limit);

  @Override
  ActorWithReturn<M, R> closeOnExit(AutoCloseable... resources);
}
