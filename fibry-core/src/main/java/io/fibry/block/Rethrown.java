package io.fibry.block;

import java.util.concurrent.CompletionException;

/** Failures as they were first thrown. */
public final class Rethrown {
  private Rethrown() {}

  /** Throws a failure, declared or not: {@code throw Rethrown.<RuntimeException>as(failure)}. */
  @SuppressWarnings("unchecked") // erased, so nothing is cast
  public static <E extends Throwable> E as(Throwable failure) throws E {
    throw (E) failure;
  }

  /** A request's future wraps failures that the JDK would take for its own. */
  public static Throwable unwrapped(Throwable failure) {
    return failure instanceof CompletionException wrapper ? wrapper.getCause() : failure;
  }
}
