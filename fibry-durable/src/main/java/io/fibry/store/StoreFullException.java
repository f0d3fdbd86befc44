package io.fibry.store;

/**
 * Thrown when the disk has no space left, or when too many stored messages wait for an actor. The
 * store is undamaged, and continues when there is space again.
 */
public final class StoreFullException extends StoreException {
  private static final long serialVersionUID = 1;

  /**
   * Makes an exception; called by stores.
   *
   * @param message the name of the store, and what to do
   * @param cause the failure of the disk
   */
  public StoreFullException(String message, Throwable cause) {
    super(message, cause);
  }
}
