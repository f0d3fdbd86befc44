package io.fibry.store;

import io.fibry.Outcome;

/**
 * Thrown when a store has not confirmed that it stored something, because a time limit was exceeded
 * or a connection was lost. It may be stored nevertheless.
 */
public final class StoreBusyException extends StoreException {
  private static final long serialVersionUID = 1;

  /**
   * Makes an exception; called by stores.
   *
   * @param message the name of the store, and the limit that was exceeded
   */
  public StoreBusyException(String message) {
    this(message, null);
  }

  /**
   * Makes an exception with a cause; called by stores.
   *
   * @param message the name of the store, and what it could not confirm
   * @param cause the failure of the connection
   */
  public StoreBusyException(String message, Throwable cause) {
    super(message, cause);
  }

  @Override
  public Outcome outcome() {
    return Outcome.UNKNOWN;
  }
}
