package io.fibry.engine.jvm;

/** Has something to be rescued, on a fiber. */
public interface Rescuable {
  void rescue();
}
