package io.fibry;

/** The mailbox refused the request. */
public final class MailboxFullException extends RequestException {
  private static final long serialVersionUID = 1;

  /** How many messages it can hold. */
  private final int capacity;

  MailboxFullException(String actor, Object request, int capacity) {
    super(actor, request, "the mailbox of actor '" + actor + "' is full (" + capacity + " messages): it did not take " + shown(request) + "; ask again later, or give it a larger mailbox or Overflow.BLOCK", null, false);
    this.capacity = capacity;
  }

  /**
   * How many messages it can hold.
   *
   * @return the number
   */
  public int capacity() {
    return capacity;
  }
}
