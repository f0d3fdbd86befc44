package io.fibry.store;

/** Thrown when a write failed and was undone. The store continues to work. */
public final class StoreWriteException extends StoreException {
  private static final long serialVersionUID = 1;

  /**
   * Makes an exception; called by stores.
   *
   * @param message the name of the store, and what to do
   * @param cause the failure of the write
   */
  public StoreWriteException(String message, Throwable cause) {
    super(message, cause);
  }
}
