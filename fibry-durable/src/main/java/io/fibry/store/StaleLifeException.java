package io.fibry.store;

/**
 * Thrown when a turn is refused, because a later life of its actor has begun, or because an earlier
 * turn of the same life was not stored.
 */
public final class StaleLifeException extends StoreException {
  private static final long serialVersionUID = 1;

  /**
   * Makes an exception; called by stores.
   *
   * @param actor the actor
   * @param turn the number of the refused turn
   */
  public StaleLifeException(Store.ActorId actor, long turn) {
    super("turn " + turn + " of " + actor
        + " comes after another life has begun, or after a turn that was not stored", null);
  }
}
