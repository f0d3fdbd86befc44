package io.fibry.store;

import io.fibry.RequestOutcome;

/**
 * Thrown when a store has not confirmed that it stored a turn or message, for example because a
 * time limit was exceeded or a connection was lost. The turn or message may be stored nevertheless.
 */
public final class StoreUnconfirmedException extends StoreException {
  private static final long serialVersionUID = 1;

  /**
   * Makes an exception; called by stores.
   *
   * @param message the name of the store, and the limit that was exceeded
   */
  public StoreUnconfirmedException(String message) {
    this(message, null);
  }

  /**
   * Makes an exception with a cause; called by stores.
   *
   * @param message the name of the store, and the write that it could not confirm
   * @param cause the failure that prevented the confirmation
   */
  public StoreUnconfirmedException(String message, Throwable cause) {
    super(message, cause);
  }

  @Override
  public RequestOutcome outcome() {
    return RequestOutcome.UNKNOWN;
  }
}
