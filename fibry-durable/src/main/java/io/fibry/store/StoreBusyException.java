package io.fibry.store;

/** A store has not said in time whether something is stored. It may be stored all the same. */
public final class StoreBusyException extends StoreException {
  private static final long serialVersionUID = 1;

  /**
   * For stores.
   *
   * @param message which limit was over
   */
  public StoreBusyException(String message) {
    super(message, null);
  }

  @Override
  public boolean unknown() {
    return true;
  }
}
