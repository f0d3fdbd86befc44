package io.fibry;

import java.time.Duration;
import java.time.temporal.ChronoUnit;

/** The mailbox refused the request. */
public final class MailboxFullException extends RequestException {
  private static final long serialVersionUID = 1;

  /** How many messages it can hold. */
  private final int capacity;

  public MailboxFullException(String actor, Object request, int capacity) {
    super(actor, request, "the mailbox of actor '" + actor + "' is full (" + capacity + " messages): it did not take "
        + shown(request) + "; ask again later, or give it a larger mailbox or Overflow.BLOCK", null, false);
    this.capacity = capacity;
  }

  /** One that has room, but is too slow. */
  public MailboxFullException(String actor, Object request, int capacity, long foreseen, Duration target) {
    super(actor, request,
        "the mailbox of actor '" + actor + "' is full: " + shown(request) + " would have waited about "
            + shown(foreseen) + ", longer than " + target
            + "; ask again later, or give it more workers or a longer within(..)",
        null, false);
    this.capacity = capacity;
  }

  private static Duration shown(long nanos) {
    return Duration.ofNanos(nanos).truncatedTo(nanos < 10_000_000 ? ChronoUnit.MICROS : ChronoUnit.MILLIS);
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
