package io.fibry.bench.peer;

/** An actor of a peer that answers. Thread-safe. */
public interface Answerer<M, R> {

  R ask(M message);

  /** Asks many times, in sequence. Overridden by a peer whose askers are no threads. */
  default R askAll(M message, int times) {
    R answer = null;
    for (int i = 0; i < times; i++) answer = ask(message);
    return answer;
  }
}
