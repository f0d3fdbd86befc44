package io.fibry.mailbox;

/** The rule for a message that is sent while the mailbox is full. */
public enum Overflow {
  /** The sender waits for capacity. A virtual thread that waits holds no carrier thread. */
  BLOCK,
  /**
   * Refuses the message: {@code sendMessage} returns false, and an {@code ask} fails with
   * {@code MailboxFullException}.
   */
  REJECT,
  /** Refuses the message as {@link #REJECT} does, but counts it as dropped. */
  DROP_NEWEST,
  /**
   * Drops the oldest message. Tasks given to {@code execute} are never dropped, because their
   * senders would not be notified. Tasks have a separate capacity of the same size, and a task
   * beyond this capacity is refused.
   */
  DROP_OLDEST
}
