package io.fibry.engine.queue;

/** Gives tests of other packages the estimate of a behavior. */
public final class SpinEstimate {
  private SpinEstimate() {}

  public static int of(AnswerSpin behavior) {
    return behavior.estimate;
  }
}
