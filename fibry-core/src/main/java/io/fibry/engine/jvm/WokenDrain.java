package io.fibry.engine.jvm;

import io.fibry.engine.carrier.CarriedDrain;

/** The drain of an actor that a handler on a fiber has woken. */
public interface WokenDrain extends CarriedDrain {
  /** Called if the waker blocked or computed for long after it woke this actor. */
  void penalizeWaker();
}
