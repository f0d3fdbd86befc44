package io.fibry;

import io.fibry.support.Patience;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.Supplier;

/** Waits of stress rounds, whose failures say what the round knows. */
public final class Waits {
  private Waits() {}

  /** Adds the state to the failure of a wait. */
  public static void explained(Runnable wait, Supplier<String> state) {
    try {
      wait.run();
    } catch (AssertionError failed) {
      throw new AssertionError(state.get() + ": " + failed.getMessage(), failed);
    }
  }

  /** Waits until it has any outcome. */
  public static void done(Future<?> future) {
    Patience.eventually(future + " has no outcome", future::isDone);
  }

  /** Waits for an answer; returns null if it is the expected one, and otherwise its failure. */
  public static Throwable failure(Future<? extends Number> future, long expected) throws InterruptedException {
    done(future);
    try {
      long answer = future.get().longValue();
      return answer == expected ? null : new AssertionError("got the answer " + answer);
    } catch (ExecutionException failed) {
      return failed.getCause();
    } catch (CancellationException cancelled) {
      return cancelled;
    }
  }
}
