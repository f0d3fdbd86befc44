package io.fibry.store;

/**
 * The disk failed in a way after which nobody knows what is on it. The store takes nothing more;
 * opened again, it tells what is there.
 */
public final class StoreBrokenException extends StoreException {
  private static final long serialVersionUID = 1;

  /** It was being stored when the disk failed. */
  private final boolean unknown;

  /**
   * For stores.
   *
   * @param message which store, and what to do
   * @param cause how the disk failed
   * @param unknown whether nobody knows if what was given is stored
   */
  public StoreBrokenException(String message, Throwable cause, boolean unknown) {
    super(message, cause);
    this.unknown = unknown;
  }

  @Override
  public boolean unknown() {
    return unknown;
  }
}
