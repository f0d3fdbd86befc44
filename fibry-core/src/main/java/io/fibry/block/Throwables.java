package io.fibry.block;

import io.fibry.engine.message.RequestFailures;
import java.util.concurrent.CompletionException;

/** Failures as they were first thrown. */
public final class Throwables {
  private Throwables() {}

  /** Throws a failure, declared or not: {@code throw Rethrown.<RuntimeException>as(failure)}. */
  @SuppressWarnings("unchecked") // erased, so nothing is cast
  public static <E extends Throwable> E sneakyThrow(Throwable failure) throws E {
    throw (E) failure;
  }

  /** What an actor answered in place of an answer, also through a future; else the failure. */
  public static Throwable requestExceptionIn(Throwable failure) {
    var refusal = RequestFailures.requestExceptionIn(failure);
    return refusal != null ? refusal : failure;
  }

  /** A request's future wraps failures that the JDK would take for its own. */
  public static Throwable unwrap(Throwable failure) {
    return failure instanceof CompletionException wrapper ? wrapper.getCause() : failure;
  }
}
