package io.fibry.net;

import io.fibry.Steps;
import io.fibry.text.Lines;

/**
 * What a conversation is at: a line, a frame, an exchange. While it reads or writes, the client has
 * its turn; what follows counts as another step, so a long answer is not a slow one. Written by the
 * conversation's thread, read by any.
 */
final class CurrentStep implements Steps {
  /** An object of its own each time. */
  private static final class ConversationStep {
    private final Object what;

    ConversationStep(Object what) {
      this.what = what;
    }

    @Override
    public String toString() {
      return Lines.line(what.toString());
    }
  }

  private Object what; // null: nobody need know
  private boolean whole; // the conversation itself, which has had no other step yet
  private volatile ConversationStep shown; // null: the client has its turn
  private volatile long done;

  void beginWhole(Object what) {
    begin(what);
    whole = true;
  }

  void endWhole() {
    if (whole) end();
  }

  void begin(Object what) {
    this.what = what;
    whole = false;
    resume();
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

  void resume() {
    shown = what == null ? null : new ConversationStep(what);
  }

  void end() {
    what = null;
    whole = false;
    shown = null;
    done = done + 1;
  }

  @Override
  public Object step() {
    return shown;
  }

  @Override
  public long stepsDone() {
    return done;
  }
}
