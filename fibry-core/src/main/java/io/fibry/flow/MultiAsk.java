package io.fibry.flow;

import io.fibry.ActorWithReturn;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/**
 * Sends one request to many actors. Thread-safe.
 * {@snippet class="io.fibry.GeneratorSnippetsTest" region="multiAsk"}
 */
public final class MultiAsk {
  private MultiAsk() {}

  /**
   * Asks all actors and waits for all answers. The first failure cancels the other requests, and is
   * thrown as {@code ask} would throw it. A cycle of actors that wait for each other in this method
   * is not detected; only the limit ends it.
   *
   * @param <M> message
   * @param <R> answers
   * @param actors the actors to ask
   * @param message sent to each actor
   * @param limit maximum time for all requests together
   * @return the answers, in the order of the actors
   * @throws io.fibry.AskTimeoutException if answers are missing at the limit; the text names
   * up to ten actors that did not answer
   * @throws java.util.concurrent.CancellationException if the waiting thread is interrupted; its
   * interrupt flag stays set, and the requests are cancelled
   */
  public static <M, R> List<R> askAll(Collection<? extends ActorWithReturn<M, R>> actors, M message, Duration limit) {
    return new MultiAskRun<>(actors, message, limit).askAll();
  }

  /**
   * Asks all actors, waits for the first answer and cancels the other requests. If all requests
   * fail, the first failure is thrown, with up to ten others as suppressed exceptions.
   *
   * @param <M> message
   * @param <R> answer
   * @param actors the actors to ask; at least one
   * @param message sent to each actor
   * @param limit maximum time for all requests together
   * @return the first answer
   * @throws IllegalArgumentException if there are no actors
   * @throws io.fibry.AskTimeoutException if no actor answers within the limit
   * @throws java.util.concurrent.CancellationException if the waiting thread is interrupted; its
   * interrupt flag stays set, and the requests are cancelled
   */
  public static <M, R> R askFirst(Collection<? extends ActorWithReturn<M, R>> actors, M message, Duration limit) {
    return new MultiAskRun<>(actors, message, limit).askFirst();
  }
}
