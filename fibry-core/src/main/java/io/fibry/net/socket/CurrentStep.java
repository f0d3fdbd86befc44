package io.fibry.net.socket;

import io.fibry.block.TimedStep;
import io.fibry.spi.MultiStepMessage;
import io.fibry.text.Lines;

/**
 * The present step of a conversation: the line, frame, message or exchange that is handled. While
 * the conversation reads or writes, it waits for its client, and no step is shown. The work after
 * such a wait is shown as a new step, so a long response is not reported as a slow step. The
 * conversation's thread calls all methods except {@code currentStep} and {@code completedSteps},
 * which any thread may call.
 */
public final class CurrentStep implements MultiStepMessage {
  /** A new object for each step that is shown, because each step has its own start time. */
  private static final class ConversationStep extends TimedStep {
    private final Object subject;

    ConversationStep(Object subject) {
      this.subject = subject;
    }

    @Override
    public String toString() {
      return Lines.line(subject.toString());
    }
  }

  private Object subject; // object whose text is shown as the step; null if no step is shown
  private boolean isCounted; // whether endLast counts the step
  private volatile ConversationStep shownStep; // null while the conversation waits for its client
  private volatile long completed; // number of steps that have ended

  CurrentStep() {}

  public void begin(Object subject) {
    begin(subject, true);
  }

  /**
   * Shows {@code subject}; {@code endLast} will not count it. Shows no step if {@code subject} is
   * null.
   */
  public void beginUncounted(Object subject) {
    begin(subject, false);
  }

  private void begin(Object subject, boolean isCounted) {
    this.subject = subject;
    this.isCounted = isCounted;
    resume();
  }

  /**
   * Called when a conversation ends normally or by an error of its client. Ends the last step if it
   * counts.
   */
  void endLast() {
    if (isCounted) end();
  }

  /** Shows no step while the conversation waits for its client. */
  void pause() {
    shownStep = null;
  }

  /** Shows no step until another step begins. */
  void hide() {
    subject = null;
    shownStep = null;
  }

  /** Ends a step that failed, without counting the step. */
  public void fail() {
    hide();
    isCounted = false;
  }

  void resume() {
    shownStep = subject == null ? null : new ConversationStep(subject);
  }

  public void end() {
    hide();
    isCounted = false;
    completed = completed + 1;
  }

  @Override
  public Object currentStep() {
    return shownStep;
  }

  @Override
  public long completedSteps() {
    return completed;
  }
}
