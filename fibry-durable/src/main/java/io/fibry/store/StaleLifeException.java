package io.fibry.store;

/** A later life of the actor has begun, or a turn before was not stored: nor will this one be. */
public final class StaleLifeException extends StoreException {
  private static final long serialVersionUID = 1;

  /**
   * For stores.
   *
   * @param turn which is refused
   */
  public StaleLifeException(Store.Turn turn) {
    super("turn " + turn.number() + " of " + turn.actor()
        + " comes after another life has begun, or after a turn that was not stored", null);
  }
}
