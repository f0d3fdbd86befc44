package io.fibry.engine.jvm;

/** The drain of an actor that a handler on a fiber has woken. */
public interface WokenDrain extends Runnable {
  /** Returns whether the drain ran; only the first call runs it. */
  boolean runOnce();

  /** Called before the fiber runs another drain. */
  void leaveThread();

  /** Called if the waker blocked or computed for long after it woke this actor. */
  void penalizeWaker();
}
