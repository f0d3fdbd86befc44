package io.fibry.bench.peer;

/**
 * An actor of some peer, which answers. Thread-safe.
 *
 * @param <M> the messages
 * @param <R> the answers
 */
public interface Answerer<M, R> {

  /**
   * Asks and waits for the answer.
   *
   * @param message never null
   * @return the answer
   */
  R ask(M message);

  /**
   * Asks many times, each time after the answer before. Overridden where an asker of this peer is
   * no thread.
   *
   * @param message never null
   * @param times how often
   * @return the last answer
   */
  default R askAll(M message, int times) {
    R answer = null;
    for (int i = 0; i < times; i++) answer = ask(message);
    return answer;
  }
}
