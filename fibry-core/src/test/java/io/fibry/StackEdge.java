package io.fibry;

import java.util.SplittableRandom;
import java.util.function.IntConsumer;

/** Threads that call code at each level of a recursion, until the stack or the code overflows. */
public final class StackEdge {
  private static final int STACK = 256 << 10;
  private static final int NEAR = 120; // levels

  private final SplittableRandom random;
  private int deepest;

  public StackEdge(SplittableRandom random) {
    this.random = random;
  }

  /** Calls the code near the edge only, so that it is still well there. */
  public void overflow(IntConsumer code) {
    play(Integer.MAX_VALUE, code);
    play(Math.max(0, deepest - 1 - random.nextInt(NEAR)), code);
  }

  private void play(int from, IntConsumer code) {
    var thread = new Thread(null, () -> {
      try {
        descend(0, from, code);
      } catch (StackOverflowError | RequestException expected) {}
    }, "overflowing", STACK);
    thread.setDaemon(true);
    thread.start();
    Patience.joined(thread);
  }

  private void descend(int level, int from, IntConsumer code) {
    deepest = level;
    if (level >= from) code.accept(level);
    descend(level + 1, from, code);
  }
}
