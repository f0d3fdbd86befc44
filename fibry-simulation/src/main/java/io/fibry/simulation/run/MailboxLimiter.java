package io.fibry.simulation.run;

/** A machine that may reduce the capacity of a mailbox. */
public interface MailboxLimiter {
  int limitedCapacity(int capacity);
}
