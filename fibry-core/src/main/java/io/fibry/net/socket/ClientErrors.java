package io.fibry.net.socket;

import java.io.IOException;
import java.util.Arrays;

/**
 * Remembers the last exceptions that a conversation got because of its client. If a handler throws
 * such an exception, or wraps it, the handler itself has not failed. Thread-safe.
 */
final class ClientErrors {
  private static final int MAX_REMEMBERED = 4;
  // maximum number of causes that are checked, because a chain of causes may be a cycle
  private static final int MAX_DEPTH = 16;

  // the newest first, or null before the first failure; guarded by the monitor
  private IOException[] latestFailures;

  /** Remembers the failure, and returns it. */
  synchronized IOException add(IOException failure) {
    if (latestFailures == null) latestFailures = new IOException[MAX_REMEMBERED];
    System.arraycopy(latestFailures, 0, latestFailures, 1, MAX_REMEMBERED - 1);
    return latestFailures[0] = failure;
  }

  /** Returns whether the failure, or one of its causes, is a remembered exception. */
  boolean isCauseOf(Throwable failure) {
    int depth = 0;
    for (var cause = failure; cause != null && depth < MAX_DEPTH; cause = cause.getCause(), depth++)
      if (contains(cause)) return true;
    return false;
  }

  private synchronized boolean contains(Throwable cause) {
    return latestFailures != null && Arrays.asList(latestFailures).contains(cause);
  }
}
