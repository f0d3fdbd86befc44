package io.fibry.store;

/** Another process, or this one, has the store open. */
public final class StoreInUseException extends StoreException {
  private static final long serialVersionUID = 1;

  /**
   * For stores.
   *
   * @param message which store, and what to do
   */
  public StoreInUseException(String message) {
    super(message, null);
  }
}
