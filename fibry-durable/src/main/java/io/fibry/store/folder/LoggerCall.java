package io.fibry.store.folder;

/** Calls loggers and recorders, whose failures must not become failures of the store. */
final class LoggerCall {
  private LoggerCall() {}

  /** Runs the call. A failure is ignored, because a logger is user code. */
  static void run(Runnable call) {
    try {
      call.run();
    } catch (Throwable ignored) {
      // the failure of a logger cannot be logged
    }
  }
}
