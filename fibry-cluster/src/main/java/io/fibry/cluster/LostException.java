package io.fibry.cluster;

import java.util.Objects;

/** A message did not get through, or got no answer; or nobody knows. */
public final class LostException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Why. */
  public enum Loss {
    /** No node was there to get the message. */
    NOBODY,
    /** No answer came in time. */
    LATE,
    /** There is no connection; the message did not leave. */
    CUT,
    /** The network does not let this program do so. */
    DENIED,
    /** The connection broke meanwhile, so it is not known whether the message left. */
    UNKNOWN
  }

  /** As told. */
  private final Loss loss;

  /**
   * For engines.
   *
   * @param loss why
   * @param text what happened
   */
  public LostException(Loss loss, String text) {
    super(text);
    this.loss = Objects.requireNonNull(loss, "loss");
  }

  /** {@return why} */
  public Loss loss() {
    return loss;
  }
}
