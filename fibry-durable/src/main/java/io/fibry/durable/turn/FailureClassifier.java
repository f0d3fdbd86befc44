package io.fibry.durable.turn;

import io.fibry.ActorStoppedException;
import io.fibry.store.StoreException;
import java.nio.channels.ClosedByInterruptException;
import java.util.concurrent.CancellationException;

/** Distinguishes failures that a message causes from failures of its environment. */
final class FailureClassifier {
  private static final int MAX_CAUSES = 100; // the causes of a user's exception may form a cycle

  private FailureClassifier() {}

  /**
   * Returns whether the message caused the failure. If not, the message may succeed when it is
   * delivered again. Called on the handler's thread.
   */
  static boolean isMessageFault(Throwable failure) {
    if (Thread.currentThread().isInterrupted()) return false;
    int causes = 0;
    for (var cause = failure; cause != null && causes < MAX_CAUSES; cause = cause.getCause(), causes++)
      if (cause instanceof InterruptedException || cause instanceof CancellationException
          || cause instanceof ClosedByInterruptException || cause instanceof StoreException
          || cause instanceof ActorStoppedException || cause instanceof OutOfMemoryError)
        return false;
    return true;
  }
}
