package io.fibry.cluster;

import java.util.Objects;

/**
 * A message was not sent, or got no answer, or another operation of the network failed. The
 * operation may have taken effect nevertheless if {@link #failure} is {@code TIMED_OUT} or
 * {@code UNKNOWN}.
 */
public final class TransportException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Why an operation of the network failed. */
  public enum Failure {
    /** No node received the message, because none has subscribed to its subject. */
    NO_RECEIVER,
    /** No answer came in time. */
    TIMED_OUT,
    /**
     * There is no connection, or the servers cannot do the operation at the moment, so it was not
     * done.
     */
    DISCONNECTED,
    /** The network does not permit the operation to this program. */
    DENIED,
    /**
     * The connection broke during the operation, so it is unknown whether the operation was done.
     */
    UNKNOWN
  }

  /** Why the operation failed. */
  private final Failure failure;

  /**
   * Called by transports.
   *
   * @param failure why the operation failed
   * @param text what happened
   */
  public TransportException(Failure failure, String text) {
    super(text);
    this.failure = Objects.requireNonNull(failure, "failure");
  }

  /** {@return why the operation failed} */
  public Failure failure() {
    return failure;
  }
}
