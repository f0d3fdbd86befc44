package io.fibry.net;

import java.io.IOException;
import java.util.Arrays;

/** The latest failures of a client that its conversation was told of. Thread-safe. */
final class ClientErrors {
  private static final int REMEMBERED = 4;
  private static final int MAX_DEPTH = 16; // causes; they may be a ring

  private IOException[] latest; // null: none. Under the monitor

  synchronized IOException add(IOException failure) {
    if (latest == null) latest = new IOException[REMEMBERED];
    System.arraycopy(latest, 0, latest, 1, REMEMBERED - 1);
    return latest[0] = failure;
  }

  /** It, or a cause of it, is one of them. */
  boolean isIn(Throwable failure) {
    int depth = 0;
    for (var cause = failure; cause != null && depth < MAX_DEPTH; cause = cause.getCause(), depth++)
      if (contains(cause)) return true;
    return false;
  }

  private synchronized boolean contains(Throwable cause) {
    return latest != null && Arrays.asList(latest).contains(cause);
  }
}
