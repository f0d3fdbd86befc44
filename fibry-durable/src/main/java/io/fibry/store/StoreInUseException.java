package io.fibry.store;

/** Thrown when this or another process has the store open already. */
public final class StoreInUseException extends StoreException {
  private static final long serialVersionUID = 1;

  /**
   * Makes an exception; called by stores.
   *
   * @param message the name of the store, and what to do
   */
  public StoreInUseException(String message) {
    super(message, null);
  }
}
