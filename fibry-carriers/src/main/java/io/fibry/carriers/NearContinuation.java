package io.fibry.carriers;

/** The continuation of a virtual thread that should run on the carrier on which it was unparked. */
record NearContinuation(Runnable continuation) implements Runnable {
  /** Returns the argument if there is no memory: the JDK would lose the virtual thread. */
  static Runnable of(Runnable continuation) {
    try {
      return new NearContinuation(continuation);
    } catch (OutOfMemoryError noMemory) {
      return continuation;
    }
  }

  @Override
  public void run() {
    continuation.run();
  }
}
