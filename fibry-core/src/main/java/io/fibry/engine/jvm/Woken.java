package io.fibry.engine.jvm;

/** The drain of an actor that a handler on a fiber has woken. */
public interface Woken extends Runnable {
  /** Answers whether it ran; only the first call does. */
  boolean runOnce();

  /** The fiber goes on with another. */
  void leaveThread();

  /** Its waker blocked or computed for long, instead of going on. */
  void blameWaker();
}
