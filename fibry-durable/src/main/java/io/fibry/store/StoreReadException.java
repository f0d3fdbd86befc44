package io.fibry.store;

/** What is stored could not be read this time. */
public final class StoreReadException extends StoreException {
  private static final long serialVersionUID = 1;

  /**
   * For stores.
   *
   * @param message what, and where
   * @param cause what the disk said
   */
  public StoreReadException(String message, Throwable cause) {
    super(message, cause);
  }
}
