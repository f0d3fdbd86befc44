package io.fibry.engine.message;

import java.util.concurrent.Future;
import java.util.function.Consumer;

/** The limit of an answer that no thread of the library waits for. */
record AnswerLimit<R>(Future<R> answer, Consumer<Runnable> elsewhere, Runnable lateness, Runnable look, Deadline until)
    implements Deadline.Pending<R> {

  @Override
  public boolean isDone() {
    return answer.isDone();
  }

  @Override
  public R park() {
    throw new IllegalStateException("no thread waits here");
  }

  @Override
  public R park(long nanos) {
    return park();
  }

  /** Elsewhere: the text, and what is chained to the future, are user code. */
  @Override
  public void expire() {
    elsewhere.accept(() -> {
      try {
        lateness.run();
      } catch (Throwable edge) { // of memory: it is undone
        until.enter(this);
      }
    });
  }

  @Override
  public void note() {
    look.run();
  }
}
