package io.fibry.engine.jvm;

import java.util.ArrayDeque;

/**
 * Runs activations on the sender's own thread, nested at most 64 deep. Deeper activations are
 * postponed until the outermost activation of their thread has run, or until that thread waits.
 */
public final class CallerThreadRunner {
  private static final int MAX_DEPTH = 64;

  private static final class Nesting {
    private int depth;
    private final ArrayDeque<Runnable> postponed = new ArrayDeque<>();
  }

  private static final ThreadLocal<Nesting> NESTING = new ThreadLocal<>() {
    @Override
    protected Nesting initialValue() {
      return new Nesting();
    }
  };
  // false -> true by the first thread that postpones an activation; until then no wait reads
  // NESTING
  private static volatile boolean everPostponed;

  private CallerThreadRunner() {}

  public static void run(Runnable activation) {
    var nesting = NESTING.get();
    if (nesting.depth >= MAX_DEPTH) {
      everPostponed = true;
      nesting.postponed.add(activation);
      return;
    }
    nesting.depth++;
    try {
      activation.run();
    } finally {
      if (--nesting.depth == 0) {
        runPostponed(nesting);
        if (nesting.depth == 0) NESTING.remove();
      }
    }
  }

  /**
   * Runs the postponed activations of this thread, because the thread may be about to wait for
   * them.
   */
  public static void beforeWait() {
    if (everPostponed) runPostponed(NESTING.get());
  }

  private static void runPostponed(Nesting nesting) {
    nesting.depth++; // so that nested activations leave the queue to this loop
    try {
      while (!nesting.postponed.isEmpty()) {
        StackProbe.probe(); // first: an activation that leaves the queue must be able to run
        nesting.postponed.poll().run();
      }
    } finally {
      nesting.depth--;
    }
  }
}
