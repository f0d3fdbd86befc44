package io.fibry.engine.message;

/**
 * The limit of an answer that no thread of the library waits for. Its tasks are no lambdas: see
 * {@link Deadline}.
 */
record AnswerLimit<R>(ExpiringAnswer<R> answer, Object given, Deadline until)
    implements Deadline.AwaitedResult<R>, Runnable {

  /** An answer that can be too late. */
  interface ExpiringAnswer<R> extends Deadline.AwaitedResult<R> {
    void runOffThread(Runnable code);

    /** The message was given to the actor, or waits for it. */
    void expire(Object given, Deadline until);
  }

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
    answer.runOffThread(this);
  }

  @Override
  public void run() {
    try {
      answer.expire(given, until);
    } catch (Throwable edge) { // of memory: it is undone
      until.startExpiry(this);
    }
  }

  @Override
  public void noteStart() {
    answer.noteStart();
  }
}
