package io.fibry.store;

/** The store was closed before. */
public final class StoreClosedException extends StoreException {
  private static final long serialVersionUID = 1;

  /**
   * For stores.
   *
   * @param message which store
   */
  public StoreClosedException(String message) {
    super(message, null);
  }
}
