package io.fibry.store;

/** A write failed, and was undone. The store continues to work. */
public final class StoreWriteException extends StoreException {
  private static final long serialVersionUID = 1;

  /**
   * For stores.
   *
   * @param message which store, and what to do
   * @param cause what failed
   */
  public StoreWriteException(String message, Throwable cause) {
    super(message, cause);
  }
}
