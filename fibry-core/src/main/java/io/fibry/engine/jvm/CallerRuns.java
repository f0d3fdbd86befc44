package io.fibry.engine.jvm;

import io.fibry.Strategy;
import java.util.ArrayDeque;

/**
 * The sender's own thread. Each thread has its own nesting and its own line of activations that
 * were too deep.
 */
public final class CallerRuns implements Strategy {
  private static final int DEEPEST = 64;

  private static final class Nesting {
    private int depth;
    private final ArrayDeque<Runnable> later = new ArrayDeque<>();
  }

  private static volatile boolean tooDeep; // once anything had to wait; spares all others the look
  private final ThreadLocal<Nesting> nesting = ThreadLocal.withInitial(Nesting::new);

  @Override
  public void activate(Runnable activation) {
    var nest = nesting.get();
    if (nest.depth >= DEEPEST) { // deeper than that below a wait
      tooDeep = true;
      nest.later.add(activation);
      return;
    }
    nest.depth++;
    try {
      activation.run();
    } finally {
      if (--nest.depth == 0) {
        runLater();
        if (nest.depth == 0) nesting.remove();
      }
    }
  }

  /**
   * Called by who is about to wait on this thread: what it waits for may be among what was too
   * deep.
   */
  public static void beforeWait() {
    if (tooDeep) ((CallerRuns) CALLER).runLater();
  }

  private void runLater() {
    var nest = nesting.get();
    nest.depth++; // keeps the line in the hands of this loop
    try {
      for (var next = nest.later.poll(); next != null; next = nest.later.poll()) next.run();
    } finally {
      nest.depth--;
    }
  }

  @Override
  public String toString() {
    return "CALLER";
  }
}
