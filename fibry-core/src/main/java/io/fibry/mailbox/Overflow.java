package io.fibry.mailbox;

/** What a full mailbox does with one more message. */
public enum Overflow {
  /** The sender waits for room; on a virtual thread that holds no thread. */
  BLOCK,
  /**
   * Refuses it: {@code sendMessage} returns false, an {@code ask} fails with
   * {@code MailboxFullException}.
   */
  REJECT,
  /** Refuses the message as {@link #REJECT} does, but counts it as dropped. */
  DROP_NEWEST,
  /**
   * Drops the oldest message. Tasks given to {@code execute} are never dropped, since their senders
   * would not learn of it: they have as much room for themselves, and one more is refused.
   */
  DROP_OLDEST
}
