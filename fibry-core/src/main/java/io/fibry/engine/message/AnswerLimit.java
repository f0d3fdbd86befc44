package io.fibry.engine.message;

import io.fibry.engine.jvm.EngineThreads;
import io.fibry.engine.jvm.Rescuable;

/**
 * The task that expires an answer at its deadline, if no thread of the library waits for the
 * answer. It is a record, not a lambda: if memory runs out while the JVM links a lambda for the
 * first time, that lambda may fail forever.
 */
record AnswerLimit<R>(ExpiringAnswer<R> answer, Object message, Deadline deadline)
    implements Deadline.AwaitedResult<R>, Runnable, Rescuable {

  /** An answer that fails if it has not arrived at its deadline. */
  interface ExpiringAnswer<R> extends Deadline.AwaitedResult<R> {
    void runOffThread(Runnable code);

    /** Fails the answer. {@code message} is the request, which the actor may already handle. */
    void expire(Object message, Deadline deadline);
  }

  @Override
  public boolean isDone() {
    return answer.isDone();
  }

  @Override
  public R park() {
    throw new IllegalStateException("no thread waits for this answer");
  }

  @Override
  public R park(long nanos) {
    return park();
  }

  /**
   * Expires the answer on another thread, because the text of the message and the callbacks of the
   * future are user code.
   */
  @Override
  public void expire() {
    answer.runOffThread(this);
  }

  @Override
  public void run() {
    EngineThreads.runOrRetry(this);
  }

  /** Expires the answer. An expiry that throws has changed nothing. */
  @Override
  public void rescue() {
    answer.expire(message, deadline);
  }

  @Override
  public void rememberStart() {
    answer.rememberStart();
  }
}
