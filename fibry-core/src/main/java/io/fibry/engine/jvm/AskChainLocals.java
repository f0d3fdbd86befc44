package io.fibry.engine.jvm;

import java.util.List;

/**
 * The actors of other processes that wait for the request that this thread handles, and for the
 * requests that it sends.
 */
public final class AskChainLocals {
  /** Whether there ever was any. Written by a sender before it sends: it sees it. */
  public static boolean everUsed;

  private static final ThreadLocal<List<String>> HANDLED = new ThreadLocal<>();
  private static final ThreadLocal<List<String>> SENT = new ThreadLocal<>();

  private AskChainLocals() {}

  /**
   * Returns the askers of the message that this handler, or a handler below it on the same thread,
   * is handling.
   */
  public static List<String> handledAskers() {
    return orNone(HANDLED.get());
  }

  /** Returns the askers to send along with a request. */
  public static List<String> sentAskers() {
    return orNone(SENT.get());
  }

  private static List<String> orNone(List<String> askers) {
    return askers == null ? List.of() : askers;
  }

  /** {@return the askers of the handler below, for {@link #endHandling}} */
  public static List<String> beginHandling(List<String> askers) {
    var outer = HANDLED.get();
    HANDLED.set(askers);
    return outer;
  }

  public static void endHandling(List<String> outer) {
    put(HANDLED, outer);
  }

  public static void send(List<String> askers, Runnable sending) {
    everUsed = true;
    var outer = SENT.get();
    SENT.set(askers);
    try {
      sending.run();
    } finally {
      put(SENT, outer);
    }
  }

  private static void put(ThreadLocal<List<String>> place, List<String> outer) {
    if (outer == null) place.remove();
    else place.set(outer);
  }
}
