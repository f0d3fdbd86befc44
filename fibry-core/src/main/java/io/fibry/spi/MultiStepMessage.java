package io.fibry.spi;

/**
 * A message that is handled step by step for as long as somebody else likes, such as a connection.
 * Its actor is at work all the time, though no step takes long. So dumps, texts of time-outs and
 * the watchdog name the current step: its text, when it began, and how many steps came before it.
 * The accounts count each step that has ended as a handled message, and the whole as none.
 *
 * <p>Both methods are called on threads that only look, so they must be quick and thread-safe.
 * {@snippet class="io.fibry.StepsTest" region="steps"}
 */
public interface MultiStepMessage {

  /**
   * Returns the current step, for texts.
   *
   * @return another object for each step; null between two, while the other side has its turn
   */
  Object currentStep();

  /** {@return how many steps have ended} */
  long completedSteps();
}
