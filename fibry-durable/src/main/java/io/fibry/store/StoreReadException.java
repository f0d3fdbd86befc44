package io.fibry.store;

/** Stored bytes could not be read this time. */
public final class StoreReadException extends StoreException {
  private static final long serialVersionUID = 1;

  /**
   * For stores.
   *
   * @param message what, and where
   * @param cause the failure of the disk
   */
  public StoreReadException(String message, Throwable cause) {
    super(message, cause);
  }
}
