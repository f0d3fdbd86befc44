package io.fibry.store;

/** There is no room on the disk. The store is whole, and recovers by itself when there is room. */
public final class StoreFullException extends StoreException {
  private static final long serialVersionUID = 1;

  /**
   * For stores.
   *
   * @param message which store, and what to do
   * @param cause the failure of the disk
   */
  public StoreFullException(String message, Throwable cause) {
    super(message, cause);
  }
}
