package io.fibry.store;

import io.fibry.Outcome;

/**
 * A store has not said whether something is stored: a limit was over, or a connection was lost. It
 * may be stored all the same.
 */
public final class StoreBusyException extends StoreException {
  private static final long serialVersionUID = 1;

  /**
   * For stores.
   *
   * @param message which limit was over
   */
  public StoreBusyException(String message) {
    this(message, null);
  }

  /**
   * For stores.
   *
   * @param message the failure of the connection
   * @param cause how
   */
  public StoreBusyException(String message, Throwable cause) {
    super(message, cause);
  }

  @Override
  public Outcome outcome() {
    return Outcome.UNKNOWN;
  }
}
