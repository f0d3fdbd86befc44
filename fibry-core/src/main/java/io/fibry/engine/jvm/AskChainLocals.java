package io.fibry.engine.jvm;

import java.util.List;

/**
 * Holds two lists of askers for each thread. An asker is an actor of another process. The askers of
 * one list wait for the request that the thread handles; the askers of the other list wait for the
 * requests that the thread sends.
 */
public final class AskChainLocals {
  /**
   * Whether this process has ever sent a request with askers in other processes. Set on the
   * sender's thread, before the request is sent.
   */
  public static boolean everUsed;

  private static final ThreadLocal<List<String>> HANDLED = new ThreadLocal<>();
  private static final ThreadLocal<List<String>> SENT = new ThreadLocal<>();

  private AskChainLocals() {}

  /**
   * Returns the askers of the message that this thread is handling. For a message
   * without askers, returns the askers of the enclosing handler on this thread.
   */
  public static List<String> handledAskers() {
    return orEmpty(HANDLED.get());
  }

  /** Returns the askers to send along with a request. */
  public static List<String> sentAskers() {
    return orEmpty(SENT.get());
  }

  private static List<String> orEmpty(List<String> askers) {
    return askers == null ? List.of() : askers;
  }

  /**
   * Sets the askers of the message that this thread handles now. Returns the askers of the outer
   * handler, which {@link #endHandling} restores.
   */
  public static List<String> beginHandling(List<String> askers) {
    var outerAskers = HANDLED.get();
    HANDLED.set(askers);
    return outerAskers;
  }

  public static void endHandling(List<String> outerAskers) {
    restore(HANDLED, outerAskers);
  }

  /** Records that requests have askers. Writes once, because all senders read the field. */
  public static void markUsed() {
    if (!everUsed) everUsed = true;
  }

  /** Runs the code. The requests that the code sends carry these askers. */
  public static void send(List<String> askers, Runnable code) {
    markUsed();
    var outerAskers = SENT.get();
    SENT.set(askers);
    try {
      code.run();
    } finally {
      restore(SENT, outerAskers);
    }
  }

  private static void restore(ThreadLocal<List<String>> local, List<String> outerAskers) {
    if (outerAskers == null) local.remove();
    else local.set(outerAskers);
  }
}
