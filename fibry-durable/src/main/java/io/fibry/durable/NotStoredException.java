package io.fibry.durable;

import io.fibry.Outcome;
import io.fibry.RequestException;
import io.fibry.store.StoreException;
import io.fibry.text.Lines;

/**
 * A request was handled, but its turn, or one before it, could not be stored; or it was to be kept,
 * and could not be stored itself. The outcome is NOT_DONE if no part of it is stored, UNKNOWN if
 * the store did not say, and WILL_BE_DONE if the request itself is stored and comes again.
 */
public final class NotStoredException extends RequestException {
  private static final long serialVersionUID = 1;

  private NotStoredException(String text, String actor, Object request, StoreException cause, Outcome outcome) {
    super(text + switch (outcome) {
      case NOT_DONE -> ": ";
      case WILL_BE_DONE -> "; it keeps it, and handles it once without being sent it again: ";
      case UNKNOWN -> "; it may be stored all the same: ";
    } + Lines.message(cause), actor, request, cause, outcome);
  }

  static NotStoredException ofTurn(String actor, String asked, Object request, StoreException cause,
      Outcome outcome) {
    return new NotStoredException(actor + " handled " + asked + ", and could not store what it did", actor, request,
        cause, outcome);
  }

  static NotStoredException ofMessage(String actor, String asked, Object request, StoreException cause) {
    return new NotStoredException(actor + " does not get " + asked + ", since it could not be kept", actor, request,
        cause, cause.outcome());
  }
}
