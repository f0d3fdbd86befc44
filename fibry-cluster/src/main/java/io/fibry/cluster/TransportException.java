package io.fibry.cluster;

import java.util.Objects;

/** A message did not get through, or got no answer; or nobody knows. */
public final class TransportException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Why. */
  public enum Failure {
    /** No node was there to get the message. */
    NO_RECEIVER,
    /** No answer came in time. */
    TIMED_OUT,
    /** There is no connection; the message did not leave. */
    DISCONNECTED,
    /** The network does not let this program do so. */
    DENIED,
    /** The connection broke meanwhile, so it is not known whether the message left. */
    UNKNOWN
  }

  /** As told. */
  private final Failure loss;

  /**
   * For engines.
   *
   * @param loss why
   * @param text what happened
   */
  public TransportException(Failure loss, String text) {
    super(text);
    this.loss = Objects.requireNonNull(loss, "loss");
  }

  /** {@return why} */
  public Failure failure() {
    return loss;
  }
}
