package io.fibry.simulation;

import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.simulation.tap.MachineLookup;

/** Where {@link Mailbox#bounded} of users' classes arrives: a fault may make a mailbox smaller. */
public final class SmallMailboxes {

  /** A machine that may give less room than was asked for. */
  interface MailboxLimiter {
    int roomFor(int capacity);
  }

  private SmallMailboxes() {}

  /**
   * {@return the mailbox that {@link Mailbox#bounded} gives, or a smaller one}
   *
   * @param capacity at least 1
   * @param overflow what a full mailbox does
   */
  public static Mailbox<Object> bounded(int capacity, Overflow overflow) {
    return Mailbox.bounded(
        MachineLookup.machine() instanceof MailboxLimiter machine ? machine.roomFor(capacity) : capacity, overflow);
  }
}
