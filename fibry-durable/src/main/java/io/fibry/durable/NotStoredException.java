package io.fibry.durable;

import io.fibry.Outcome;
import io.fibry.RequestException;
import io.fibry.store.StoreException;
import io.fibry.text.Lines;

/**
 * A request failed because of the store. Either it was handled, but its turn or an earlier turn
 * could not be stored; or the request itself could not be stored, and is not handled. The outcome
 * is NOT_DONE if no part of the request is stored, and UNKNOWN if the store did not confirm that.
 * It is WILL_BE_DONE if the request itself is stored and will be handled again.
 */
public final class NotStoredException extends RequestException {
  private static final long serialVersionUID = 1;

  private NotStoredException(String text, String actor, Object request, StoreException cause, Outcome outcome) {
    super(text + switch (outcome) {
      case NOT_DONE -> ": ";
      case WILL_BE_DONE -> "; the message itself is stored, and the actor handles it again without another send: ";
      case UNKNOWN -> "; it may be stored all the same: ";
    } + Lines.message(cause), actor, request, cause, outcome);
  }

  static NotStoredException ofTurn(String actor, String text, Object request, StoreException cause,
      Outcome outcome) {
    return new NotStoredException(actor + " handled " + text + ", and could not store what it did", actor, request,
        cause, outcome);
  }

  static NotStoredException ofMessage(String actor, String text, Object request, StoreException cause) {
    return new NotStoredException(actor + " does not get " + text + ", since it could not be stored", actor, request,
        cause, cause.outcome());
  }
}
