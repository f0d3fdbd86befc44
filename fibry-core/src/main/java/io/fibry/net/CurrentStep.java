package io.fibry.net;

import io.fibry.block.TimedStep;
import io.fibry.spi.MultiStepMessage;
import io.fibry.text.Lines;

/**
 * What a conversation is at: a line, a frame, an exchange. While the conversation reads or writes,
 * it is the client's turn. The work afterwards counts as another step, so a long answer is not a
 * slow step. Written by the conversation's thread, read by any.
 */
final class CurrentStep implements MultiStepMessage {
  /** An object of its own each time. */
  private static final class ConversationStep extends TimedStep {
    private final Object what;

    ConversationStep(Object what) {
      this.what = what;
    }

    @Override
    public String toString() {
      return Lines.line(what.toString());
    }
  }

  private Object what; // null if there is no text to show
  private boolean counts; // once it has ended
  private volatile ConversationStep shown; // null: the client has its turn
  private volatile long done;

  void begin(Object what) {
    begin(what, true);
  }

  /** Shows {@code what}, or nothing if it is null, and does not count it as a step. */
  void beginUncounted(Object what) {
    begin(what, false);
  }

  private void begin(Object what, boolean counts) {
    this.what = what;
    this.counts = counts;
    resume();
  }

  /** With the conversation, which did not fail. */
  void endLast() {
    if (counts) end();
  }

  /** The client has its turn. */
  void pause() {
    shown = null;
  }

  /** The client has its turn to the end. */
  void leave() {
    what = null;
    shown = null;
  }

  /** The step failed. */
  void fail() {
    leave();
    counts = false;
  }

  void resume() {
    shown = what == null ? null : new ConversationStep(what);
  }

  void end() {
    leave();
    counts = false;
    done = done + 1;
  }

  @Override
  public Object currentStep() {
    return shown;
  }

  @Override
  public long completedSteps() {
    return done;
  }
}
