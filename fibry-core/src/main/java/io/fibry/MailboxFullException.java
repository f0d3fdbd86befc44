package io.fibry;

/** The mailbox refused the request. */
public final class MailboxFullException extends RequestException {
  private static final long serialVersionUID = 1;

  /** How many messages the mailbox can hold. */
  private final int capacity;

  /**
   * Users make one only to fake an actor, in a test say.
   *
   * @param text what happened
   * @param actor the name of the actor that was asked
   * @param request what it was asked
   * @param capacity how many messages the mailbox can hold
   */
  public MailboxFullException(String text, String actor, Object request, int capacity) {
    super(text, actor, request, null, false);
    this.capacity = capacity;
  }

  /**
   * How many messages the mailbox can hold.
   *
   * @return the number
   */
  public int capacity() {
    return capacity;
  }
}
