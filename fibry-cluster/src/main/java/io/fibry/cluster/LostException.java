package io.fibry.cluster;

import java.util.Objects;

/** A message got no answer from the network, or did not leave. */
public final class LostException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Why. */
  public enum Loss {
    /** Nobody was there to get it. */
    NOBODY,
    /** No answer came in time. */
    LATE,
    /** There is no connection; the message did not leave. */
    CUT
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
