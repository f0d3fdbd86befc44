package io.fibry.durable;

import io.fibry.RequestException;
import io.fibry.RequestOutcome;
import io.fibry.store.StoreException;
import io.fibry.text.Lines;

/**
 * A request failed because of the store. Either it was handled, but its turn or an earlier turn
 * could not be stored; or the request itself could not be stored, and is not handled. The outcome
 * is NOT_DONE if no part of the request is stored, and UNKNOWN if this is not certain.
 * It is WILL_BE_DONE if the request itself is stored and will be handled again.
 */
public final class StorageFailedException extends RequestException {
  private static final long serialVersionUID = 1;

  /**
   * Makes an exception. Durable actors do this.
   *
   * @param text which actor could not store what; the constructor adds the outcome and the cause
   * @param actor the name of the actor
   * @param request the request
   * @param cause the refusal of the store
   * @param outcome whether the request was or will be handled
   */
  public StorageFailedException(String text, String actor, Object request, StoreException cause,
      RequestOutcome outcome) {
    super(text + switch (outcome) {
      case NOT_DONE -> ": ";
      case WILL_BE_DONE -> "; the message itself is stored, and the actor handles it again without another send: ";
      case UNKNOWN -> "; it may be stored nevertheless: ";
    } + Lines.message(cause), actor, request, cause, outcome);
  }
}
