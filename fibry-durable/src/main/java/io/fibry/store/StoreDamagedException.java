package io.fibry.store;

/** What was stored is no longer there, or no longer as it was. Nothing was changed. */
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
