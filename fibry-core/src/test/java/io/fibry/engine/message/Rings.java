package io.fibry.engine.message;

/** What tests see of rings. */
public final class Rings {
  private Rings() {}

  /** How many waits are in the ring that this one closes. */
  public static int size(Wait wait) {
    return Ring.closedBy(wait).waits.size();
  }

  public static String text(Wait wait) {
    return Ring.closedBy(wait).waits.toString();
  }
}
