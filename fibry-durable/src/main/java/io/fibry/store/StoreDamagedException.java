package io.fibry.store;

/**
 * Thrown when stored data is missing or has changed, is only a part of a copy, or has a format that
 * this version does not read. The store was not changed.
 */
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
