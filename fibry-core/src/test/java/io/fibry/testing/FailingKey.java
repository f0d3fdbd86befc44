package io.fibry.testing;

/** A key that no map can contain, because its hashCode throws. */
public final class FailingKey {
  @Override
  public int hashCode() {
    throw new IllegalStateException("made up, for a test");
  }
}
