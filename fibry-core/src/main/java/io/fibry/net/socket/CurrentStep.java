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

  /**
   * The wait of a conversation for bytes of its client, as observers see it.
   *
   * <p>An observer must not take a conversation that has got bytes for a conversation that waits.
   * Three things happen in this order: the bytes arrive in the socket, the reader wakes and takes
   * them, and the conversation ends the wait. Within one wait, an observer first checks that the
   * socket has no bytes, and then that the reader is parked. If the reader took bytes before the
   * first check, it runs until the end of the wait, because it parks only to wait for more bytes.
   * (A reader of TLS may also park to send a record of TLS itself, to a client that does not read.)
   *
   * <p>The state of a platform thread does not show that the thread waits in {@code java.net}. So a
   * conversation on such a thread counts as being at work.
   */
  static final class InputWait {
    private volatile int count; // odd during a wait; written by the conversation, read by observers
    // the next two fields are written before `count`, so an observer of a wait sees its fields
    private Thread reader;
    private Transport transport;
    private volatile boolean isCancelled; // whether the input has ended

    /** Called by the conversation before it waits; {@code reader} is the thread that reads. */
    void begin(Thread reader, Transport transport) {
      this.reader = reader;
      this.transport = transport;
      count = count + 1;
    }

    /** Called after each read outside of an exchange, also by a thread that has begun no wait. */
    void end() {
      if ((count & 1) != 0) count = count + 1;
    }

    /** Called before the input is ended, because the reader may wake later. */
    void cancel() {
      isCancelled = true;
    }

    /** Returns whether the conversation waits, and nothing has arrived. Called by any thread. */
    boolean isPending() {
      int wait = count;
      if ((wait & 1) == 0 || isCancelled) return false;
      var waitReader = reader;
      return !transport.hasUnreadInSocket() && isParked(waitReader) && count == wait;
    }

    private static boolean isParked(Thread thread) {
      var state = thread.getState();
      return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
    }
  }

  final InputWait inputWait = new InputWait();
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
  public boolean isAwaitingInput() {
    return inputWait.isPending();
  }

  @Override
  public long completedSteps() {
    return completed;
  }
}
