package io.fibry.store.folder.log;

/**
 * Calls loggers and recorders, whose failures must not become failures of the store. Folder stores
 * name their loggers by string literals, not by classes. Programs configure loggers by these names,
 * so a name must stay the same if its class moves to another package.
 */
public final class LoggerCall {
  private LoggerCall() {}

  /** Runs the call. A failure is ignored, because a logger is user code. */
  public static void run(Runnable call) {
    try {
      call.run();
    } catch (Throwable ignored) {
      // the failure of a logger cannot be logged
    }
  }
}
