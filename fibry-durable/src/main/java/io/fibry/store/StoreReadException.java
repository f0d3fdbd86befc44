package io.fibry.store;

/** Thrown when stored bytes could not be read. A later attempt may succeed. */
public final class StoreReadException extends StoreException {
  private static final long serialVersionUID = 1;

  /**
   * Makes an exception; called by stores.
   *
   * @param message the name of the store, and the object that could not be read
   * @param cause the failure of the disk
   */
  public StoreReadException(String message, Throwable cause) {
    super(message, cause);
  }
}
