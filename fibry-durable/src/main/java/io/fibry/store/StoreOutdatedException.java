package io.fibry.store;

/** A later life of the actor has begun, or a turn before was not stored: nor will this one be. */
public final class StoreOutdatedException extends StoreException {
  private static final long serialVersionUID = 1;

  /**
   * For stores.
   *
   * @param message which actor
   */
  public StoreOutdatedException(String message) {
    super(message, null);
  }
}
