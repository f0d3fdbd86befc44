package io.fibry;

/** A key that no map can take. */
public final class FailingKey {
  @Override
  public int hashCode() {
    throw new IllegalStateException("made up, for a test");
  }
}
