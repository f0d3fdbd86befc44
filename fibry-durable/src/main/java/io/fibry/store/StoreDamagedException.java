package io.fibry.store;

/** Stored bytes are missing, or have changed. The store was not changed. */
public final class StoreDamagedException extends StoreException {
  private static final long serialVersionUID = 1;

  /**
   * For stores.
   *
   * @param message which store, and what to do
   */
  public StoreDamagedException(String message) {
    super(message, null);
  }
}
