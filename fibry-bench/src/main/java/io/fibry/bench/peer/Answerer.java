package io.fibry.bench.peer;

/** An actor of a peer that answers. Thread-safe. */
public interface Answerer<M, R> {

  R ask(M message);

  /**
   * Asks many times in sequence, and returns the last answer. Overridden by peers whose askers are
   * not threads.
   */
  default R askAll(M message, int times) {
    R answer = null;
    for (int i = 0; i < times; i++) answer = ask(message);
    return answer;
  }
}
