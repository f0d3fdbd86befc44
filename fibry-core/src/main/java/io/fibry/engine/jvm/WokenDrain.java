package io.fibry.engine.jvm;

import io.fibry.engine.carrier.CarriedDrain;

/** The drain of an actor that a handler on a fiber has woken. */
public interface WokenDrain extends CarriedDrain {
  /**
   * Stops hand-overs by the waker for a while. Called if the waker blocked or computed for too long
   * after it woke this actor.
   */
  void penalizeWaker();
}
