package io.fibry.store;

/** Thrown when stored bytes are missing or have changed. The store was not changed. */
public final class StoreDamagedException extends StoreException {
  private static final long serialVersionUID = 1;

  /**
   * Makes an exception; called by stores.
   *
   * @param message the name of the store, and what to do
   */
  public StoreDamagedException(String message) {
    super(message, null);
  }
}
