package io.fibry.engine.jvm;

/** An object whose work failed for lack of memory or stack, and is tried again on a fiber. */
public interface Rescuable {
  void rescue();
}
