package io.fibry.block;

import io.fibry.engine.jvm.StackProbe;

/**
 * Checks for free space on the stack. A block calls this class before it acquires a lock, or
 * anything else that must be released. Otherwise a StackOverflowError before the release would
 * leave the lock acquired forever.
 */
public final class SendStackProbe {
  private SendStackProbe() {}

  /**
   * Throws a StackOverflowError if less than about 24 kB of the stack are free. A send and a few
   * more calls need less than that.
   */
  public static void probe() {
    StackProbe.probeForSend();
  }
}
