package io.fibry.spi;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * A message whose handling consists of many steps, such as a connection whose client decides how
 * long it lasts. Its actor is busy all the time, although no step takes long. Therefore dumps, the
 * texts of time-outs and the watchdog describe the current step and its duration, not the whole
 * message. Each completed step counts as one handled message, and the message itself does not
 * count. A flight recording has no event of the message.
 *
 * <p>The methods without a parameter are called by threads that observe the actor, so they must be
 * quick and thread-safe.
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

  /**
   * Returns whether the handler waits for input from the other side, and none has arrived. An actor
   * with such a message has no work, so {@code awaitQuiescence} does not wait for it. A handler
   * that waits to write has work. The default method returns false.
   *
   * @return true only if the handler does nothing until the other side sends, or the wait is ended
   */
  default boolean isAwaitingInput() {
    return false;
  }

  /**
   * Calls a listener at the end of each further step, with the time for which the handler has
   * worked on the step. The time in which the handler waits for the other side is not included. A
   * {@link io.fibry.ContextPropagator} may call this method when it restores the context of the
   * message. The connections of servers call their listeners. The default method calls no listener,
   * so the steps of your own messages are not timed unless you override it.
   *
   * @param listener called on the handler's thread; must be quick, and must not throw
   * @return removes the listener; closed on the handler's thread
   */
  default AutoCloseable onStepEnd(Consumer<? super Duration> listener) {
    Objects.requireNonNull(listener, "listener");
    return () -> {};
  }
}
