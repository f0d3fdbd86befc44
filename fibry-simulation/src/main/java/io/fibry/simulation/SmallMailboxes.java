package io.fibry.simulation;

import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.simulation.run.MailboxLimiter;
import io.fibry.simulation.tap.MachineLookup;

/**
 * Replaces {@link Mailbox#bounded} in classes of users: a fault may make the mailbox smaller.
 * Programs do not call this class: the agent redirects their calls to it.
 */
public final class SmallMailboxes {
  private SmallMailboxes() {}

  /**
   * {@return the mailbox of {@link Mailbox#bounded}, perhaps with a smaller capacity}
   *
   * @param capacity the number of messages, at least 1
   * @param overflow what a full mailbox does
   */
  public static Mailbox<Object> bounded(int capacity, Overflow overflow) {
    return Mailbox.bounded(
        MachineLookup.machine() instanceof MailboxLimiter limiter ? limiter.limitedCapacity(capacity) : capacity,
        overflow);
  }
}
