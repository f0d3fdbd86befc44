package io.fibry.store;

import io.fibry.RequestOutcome;

/** Thrown when a store cannot do its work. The text says which store, why, and what to do. */
public abstract sealed class StoreException extends RuntimeException
    permits StoreBrokenException, StoreUnconfirmedException, StoreClosedException, StoreDamagedException,
    StoreFullException,
    StoreInUseException, StaleLifeException, StoreReadException, StoreWriteException,
    FieldLossException {
  private static final long serialVersionUID = 1;

  StoreException(String message, Throwable cause) {
    super(message, cause);
  }

  /** {@return NOT_DONE if the turn or message is not and will not be stored, otherwise UNKNOWN} */
  public RequestOutcome outcome() {
    return RequestOutcome.NOT_DONE;
  }
}
