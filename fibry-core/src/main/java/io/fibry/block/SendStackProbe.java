package io.fibry.block;

import io.fibry.engine.jvm.StackProbe;

/**
 * Room on the stack. A block calls this before it takes something that it must give back, such as a
 * lock: a StackOverflowError in between would leave it taken for ever.
 */
public final class SendStackProbe {
  private SendStackProbe() {}

  /** Throws the StackOverflowError now, if there is no room for a send and some frames more. */
  public static void probe() {
    StackProbe.probeForSend();
  }
}
