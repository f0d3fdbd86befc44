package io.fibry.store;

import io.fibry.Outcome;
import java.util.Objects;

/**
 * The disk failed in a way after which nobody knows what is on it. The store takes no more turns;
 * opened again, it finds the turns that are stored.
 */
public final class StoreBrokenException extends StoreException {
  private static final long serialVersionUID = 1;

  /** Whether the turn is stored. */
  private final Outcome outcome;

  /**
   * For stores.
   *
   * @param message which store, and what to do
   * @param cause how the disk failed
   * @param outcome NOT_DONE if what was given is certainly not stored, or else UNKNOWN
   */
  public StoreBrokenException(String message, Throwable cause, Outcome outcome) {
    super(message, cause);
    this.outcome = Objects.requireNonNull(outcome, "outcome");
  }

  @Override
  public Outcome outcome() {
    return outcome;
  }
}
