package io.fibry;

import io.fibry.support.Patience;
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
}
