package io.fibry.net.socket;

/**
 * Decides whether a client has exceeded a deadline. If the deadline is over but bytes have arrived,
 * the next check decides. Used by the check of the limits only.
 */
final class DeadlineCheck {
  private final Transport transport;
  private long deferred; // a deadline that is over, and about which the next check decides; 0 if there is none

  DeadlineCheck(Transport transport) {
    this.transport = transport;
  }

  boolean isTooLate(long deadline, long now) {
    if (!hasPassed(deadline, now)) return false;
    if (deadline == deferred || !transport.hasUnreadInSocket()) return true;
    deferred = deadline;
    return false;
  }

  static boolean hasPassed(long deadline, long now) {
    return deadline != 0 && now - deadline >= 0;
  }
}
