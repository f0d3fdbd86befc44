package io.fibry.spi;

/**
 * A message whose handling consists of many steps, such as a connection whose client decides how
 * long it lasts. Its actor is busy all the time, although no step takes long. Therefore dumps, the
 * texts of time-outs and the watchdog describe the current step and its duration, not the whole
 * message. Each completed step counts as one handled message, and the message itself does not
 * count.
 *
 * <p>Both methods are called by threads that observe the actor, so they must be quick and
 * thread-safe.
 * {@snippet class="io.fibry.StepTextsTest" region="steps"}
 */
public interface MultiStepMessage {

  /**
   * Returns the current step, whose {@code toString} describes it.
   *
   * @return a different object for each step; null between two steps, while the handler waits for
   * the other side
   */
  Object currentStep();

  /** {@return how many steps are completed} */
  long completedSteps();
}
