package io.fibry.engine.jvm;

/** An object whose work failed for lack of memory or stack, and must be tried again on a fiber. */
public interface Rescuable {
  /**
   * Tries the work again. {@link StartRetrier} calls this method once, on a fiber. If the work
   * fails again, the method must call {@link EngineThreads#rescue} again.
   */
  void rescue();
}
