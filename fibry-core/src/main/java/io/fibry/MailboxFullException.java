package io.fibry;

/** Thrown to the asker if the mailbox of the actor was full and refused or dropped the request. */
public final class MailboxFullException extends RequestException {
  private static final long serialVersionUID = 1;

  /** How many messages the mailbox can hold. */
  private final int capacity;

  /**
   * Creates an exception with the outcome NOT_DONE; for tests that replace an actor by a fake.
   *
   * @param text describes the failure
   * @param actor the name of the actor
   * @param request the message
   * @param capacity how many messages the mailbox can hold
   */
  public MailboxFullException(String text, String actor, Object request, int capacity) {
    super(text, actor, request, null, false, RequestOutcome.NOT_DONE);
    this.capacity = capacity;
  }

  /** {@return how many messages the mailbox can hold} */
  public int capacity() {
    return capacity;
  }
}
