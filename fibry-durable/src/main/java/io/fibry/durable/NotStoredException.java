package io.fibry.durable;

import io.fibry.UnansweredException;
import io.fibry.store.StoreException;

/** A request was handled, but its turn, or one before it, could not be stored. */
public final class NotStoredException extends UnansweredException {
  private static final long serialVersionUID = 1;

  /** Nobody knows what is on the disk. */
  private final boolean unknown;

  NotStoredException(String actor, Object request, StoreException cause) {
    super(actor + " handled {request}, and could not store what it did"
        + (cause.unknown() ? "; it may be stored all the same: " : ": ") + cause.getMessage(), actor, request, cause);
    this.unknown = cause.unknown();
  }

  /** {@return whether nobody knows; otherwise nothing of the turn is stored, nor ever will be} */
  public boolean unknown() {
    return unknown;
  }
}
