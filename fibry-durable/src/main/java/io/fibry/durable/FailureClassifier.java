package io.fibry.durable;

import io.fibry.ActorStoppedException;
import io.fibry.store.StoreException;
import java.nio.channels.ClosedByInterruptException;
import java.util.concurrent.CancellationException;

/** Tells failures that a message causes from failures of its surroundings. */
final class FailureClassifier {
  private FailureClassifier() {}

  /**
   * Returns false if the message may be handled when it comes again. Called on the handler's
   * thread.
   */
  static boolean isMessageFault(Throwable failure) {
    if (Thread.currentThread().isInterrupted()) return false;
    for (var cause = failure; cause != null; cause = cause.getCause())
      if (cause instanceof InterruptedException || cause instanceof CancellationException
          || cause instanceof ClosedByInterruptException || cause instanceof StoreException
          || cause instanceof ActorStoppedException || cause instanceof OutOfMemoryError)
        return false;
    return true;
  }
}
