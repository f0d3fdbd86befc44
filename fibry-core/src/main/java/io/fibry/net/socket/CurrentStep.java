package io.fibry.net.socket;

import io.fibry.block.TimedStep;
import io.fibry.spi.MultiStepMessage;
import io.fibry.text.Lines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * The present step of a conversation: the line, frame, message or exchange that is handled. While
 * the conversation reads or writes, it waits for its client, and no step is shown. The work after
 * such a wait is shown as a new step, so a long response is not reported as a slow step. Listeners
 * get the time of each completed step without these waits. The conversation's thread calls all
 * methods except {@code currentStep} and {@code completedSteps}, which any thread may call.
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
  private final List<Consumer<? super Duration>> listeners = new ArrayList<>(0); // called for each completed step
  private long workedNanos; // time of the step until it was last paused; used only if there are listeners
  private boolean isTimeRunning; // whether the time since resumedNanos belongs to the step
  private long resumedNanos; // System.nanoTime() when the step began or was last resumed

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
    workedNanos = 0;
    isTimeRunning = false;
    resume();
  }

  /**
   * Called when a conversation or exchange ends normally or by an error of its client. Ends the
   * last step, and counts it unless it is uncounted or has ended already.
   */
  public void endLast() {
    if (isCounted) end();
    else hide();
  }

  /** Shows no step while the conversation waits for its client. */
  void pause() {
    stopTime();
    shownStep = null;
  }

  /** Shows no step until another step begins. The time of the step ends. */
  void hide() {
    stopTime();
    subject = null;
    shownStep = null;
  }

  private void stopTime() {
    if (!isTimeRunning) return;
    isTimeRunning = false;
    workedNanos += System.nanoTime() - resumedNanos;
  }

  /** Ends a step that failed, without counting the step. */
  public void fail() {
    hide();
    isCounted = false;
  }

  void resume() {
    shownStep = subject == null ? null : new ConversationStep(subject);
    isTimeRunning = subject != null && !listeners.isEmpty();
    if (isTimeRunning) resumedNanos = System.nanoTime();
  }

  public void end() {
    hide();
    isCounted = false;
    completed = completed + 1;
    if (listeners.isEmpty()) return;
    var duration = Duration.ofNanos(workedNanos);
    for (var listener : listeners) listener.accept(duration);
  }

  @Override
  public AutoCloseable onStepEnd(Consumer<? super Duration> listener) {
    listeners.add(Objects.requireNonNull(listener, "listener"));
    return () -> listeners.remove(listener);
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
