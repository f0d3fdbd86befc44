package io.fibry.store;

/** A store that cannot do what it was asked for. The text says which store, why, and what to do. */
public abstract sealed class StoreException extends RuntimeException
    permits StoreBrokenException, StoreBusyException, StoreClosedException, StoreDamagedException, StoreFullException,
    StoreInUseException, StoreOutdatedException, StoreReadException, StoreWriteException,
    UnknownFieldsException {
  private static final long serialVersionUID = 1;

  StoreException(String message, Throwable cause) {
    super(message, cause);
  }

  /** {@return whether nobody knows if the turn is stored; otherwise it is not} */
  public boolean unknown() {
    return false;
  }
}
