package io.fibry.store;

import io.fibry.RequestOutcome;
import java.util.Objects;

/**
 * Thrown when the disk failed so that its content is unknown. The store accepts no more turns. When
 * it is opened again, it reads from the disk which turns are stored.
 */
public final class StoreBrokenException extends StoreException {
  private static final long serialVersionUID = 1;

  /** NOT_DONE if the turn or message is certainly not stored, otherwise UNKNOWN. */
  private final RequestOutcome outcome;

  /**
   * Makes an exception; called by stores.
   *
   * @param message the name of the store, and what to do
   * @param cause the failure of the disk
   * @param outcome NOT_DONE if the turn or message is certainly not stored, otherwise UNKNOWN
   */
  public StoreBrokenException(String message, Throwable cause, RequestOutcome outcome) {
    super(message, cause);
    this.outcome = Objects.requireNonNull(outcome, "outcome");
  }

  @Override
  public RequestOutcome outcome() {
    return outcome;
  }
}
