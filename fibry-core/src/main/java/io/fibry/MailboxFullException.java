package io.fibry;

/** The mailbox refused the request, which is not handled. */
public final class MailboxFullException extends RequestException {
  private static final long serialVersionUID = 1;

  /** The capacity of the mailbox. */
  private final int capacity;

  /**
   * For tests that fake an actor.
   *
   * @param text what happened
   * @param actor its name
   * @param request the message
   * @param capacity of the mailbox
   */
  public MailboxFullException(String text, String actor, Object request, int capacity) {
    super(text, actor, request, null, false, Outcome.NOT_DONE);
    this.capacity = capacity;
  }

  /** {@return how many messages the mailbox can hold} */
  public int capacity() {
    return capacity;
  }
}
