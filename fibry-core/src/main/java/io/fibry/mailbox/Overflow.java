package io.fibry.mailbox;

/** What a full mailbox does with one more message. */
public enum Overflow {
  /** The sender waits for room; on a virtual thread that costs no thread. */
  BLOCK,
  /**
   * The message is refused: {@code sendMessage} answers false, an {@code ask} fails with
   * {@code MailboxFullException}.
   */
  REJECT,
  /** As {@link #REJECT}, but counted as dropped. */
  DROP_NEWEST,
  /**
   * The oldest message makes room. Tasks given to {@code execute} are not dropped, since their
   * senders would never learn of it: they have as much room for themselves, and one more is
   * refused.
   */
  DROP_OLDEST
}
