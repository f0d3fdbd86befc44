package io.fibry.store;

/** Thrown when a store or history is used after it was closed. */
public final class StoreClosedException extends StoreException {
  private static final long serialVersionUID = 1;

  /**
   * Makes an exception; called by stores.
   *
   * @param message the store or history that is closed
   */
  public StoreClosedException(String message) {
    super(message, null);
  }
}
