package io.fibry.support;

/** An exception whose text cannot be read, because its {@code getMessage} throws. */
public final class UnreadableException extends RuntimeException {
  private static final long serialVersionUID = 1;

  @Override
  public String getMessage() {
    throw new UnsupportedOperationException("no text");
  }
}
