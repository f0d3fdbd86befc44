package io.fibry.store.folder.log;

/**
 * Calls loggers and recorders, whose failures must not become failures of the store. The names of
 * the loggers are literal, because programs configure them: a class may move, its logger may not.
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
