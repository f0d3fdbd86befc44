package io.fibry.block;

import io.fibry.engine.message.RequestFailures;
import java.util.concurrent.CompletionException;

/** Throws and unwraps failures. */
public final class Throwables {
  private Throwables() {}

  /**
   * Throws a failure, even a checked exception that the caller does not declare:
   * {@code throw Throwables.<RuntimeException>sneakyThrow(failure)}.
   */
  @SuppressWarnings("unchecked") // E is erased, so the cast does nothing at run time
  public static <E extends Throwable> E sneakyThrow(Throwable failure) throws E {
    throw (E) failure;
  }

  /**
   * Returns the {@code RequestException} that an asker got, without the exceptions in which futures
   * have wrapped it. Returns the failure itself if it is another exception.
   */
  public static Throwable requestExceptionIn(Throwable failure) {
    var exception = RequestFailures.requestExceptionIn(failure);
    return exception != null ? exception : failure;
  }

  /** Returns the failure without a CompletionException in which a future has wrapped it. */
  public static Throwable unwrap(Throwable failure) {
    return failure instanceof CompletionException wrapper ? wrapper.getCause() : failure;
  }
}
