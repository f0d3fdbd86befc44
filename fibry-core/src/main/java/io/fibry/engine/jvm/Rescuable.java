package io.fibry.engine.jvm;

/** Work that is repeated on a fiber after it failed for lack of memory or stack. */
public interface Rescuable {
  /** Does the work. {@link EngineThreads} repeats a call that throws. */
  void rescue();
}
