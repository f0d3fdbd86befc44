package io.fibry.durable;

import io.fibry.UnansweredException;
import io.fibry.store.StoreException;
import io.fibry.text.Lines;

/**
 * A request was handled, but its turn, or one before it, could not be stored; or it was to be kept,
 * and could not be stored itself.
 */
public final class NotStoredException extends UnansweredException {
  private static final long serialVersionUID = 1;

  /** Nobody knows what is on the disk. */
  private final boolean unknown;

  private NotStoredException(String text, String actor, Object request, StoreException cause) {
    super(text + (cause.unknown() ? "; it may be stored all the same: " : ": ") + Lines.message(cause), actor, request,
        cause);
    this.unknown = cause.unknown();
  }

  static NotStoredException ofTurn(String actor, String asked, Object request, StoreException cause) {
    return new NotStoredException(actor + " handled " + asked + ", and could not store what it did", actor, request,
        cause);
  }

  static NotStoredException ofMessage(String actor, String asked, Object request, StoreException cause) {
    return new NotStoredException(actor + " does not get " + asked + ", since it could not be kept", actor, request,
        cause);
  }

  /** {@return whether nobody knows; otherwise nothing of it is stored, nor ever will be} */
  public boolean unknown() {
    return unknown;
  }
}
