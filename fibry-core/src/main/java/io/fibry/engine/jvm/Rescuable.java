package io.fibry.engine.jvm;

/** An object whose work failed for lack of memory or stack, and is tried again on a fiber. */
public interface Rescuable {
  /** Tries the work again. Called by {@link StartRetrier}, which calls it again if it throws. */
  void rescue();
}
