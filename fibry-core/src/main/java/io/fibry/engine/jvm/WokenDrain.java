package io.fibry.engine.jvm;

/** The drain of an actor that a handler on a fiber has woken. */
public interface WokenDrain extends Runnable {
  /** Runs the drain, unless an earlier call has run it. Returns whether this call ran the drain. */
  boolean runOnce();

  /** Called before the fiber runs another drain. */
  void leaveThread();

  /** Called if the waker blocked or computed for long after it woke this actor. */
  void penalizeWaker();
}
