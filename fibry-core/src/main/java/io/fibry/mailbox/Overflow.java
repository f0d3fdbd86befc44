package io.fibry.mailbox;

/** What a full mailbox does with one message more. */
public enum Overflow {
  /** The sender waits for room; on a virtual thread that costs no thread. */
  BLOCK,
  /**
   * The message is refused: {@code sendMessage} answers false, an {@code ask} fails with
   * {@code MailboxFullException}.
   */
  REJECT,
  /** The message is dropped: as refused, but counted as dropped. */
  DROP_NEWEST,
  /**
   * The message that waited longest makes room for it. Tasks given to {@code execute} are not
   * dropped, since nobody would hear of it: they have as much room for themselves, and one more is
   * refused.
   */
  DROP_OLDEST
}
