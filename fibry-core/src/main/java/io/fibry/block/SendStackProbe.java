package io.fibry.block;

import io.fibry.engine.jvm.StackProbe;

/**
 * Checks for free space on the stack. A block calls this before it acquires a lock or another thing
 * that must be released: a StackOverflowError before the release would leave that thing acquired
 * for ever.
 */
public final class SendStackProbe {
  private SendStackProbe() {}

  /**
   * Throws a StackOverflowError if less than about 24 kB of the stack are free, which is enough for
   * a send and a few more calls.
   */
  public static void probe() {
    StackProbe.probeForSend();
  }
}
