package io.fibry.testing;

import io.fibry.RequestException;
import io.fibry.support.Patience;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;

/** Calls code near the end of the stack of a thread or a fiber. */
public final class StackEdge {
  private static final int STACK_BYTES = 256 << 10;
  private static final int EDGE_LEVELS = 120;

  private final SplittableRandom random;
  private volatile int deepest; // written by the thread that descends

  public StackEdge(SplittableRandom random) {
    this.random = random;
  }

  /**
   * Measures the depth of a stack. Afterwards calls the code at each level of a second stack, from
   * a random level near the end on.
   */
  public void overflow(IntConsumer code) {
    play(Integer.MAX_VALUE, code);
    play(Math.max(0, deepest - 1 - random.nextInt(EDGE_LEVELS)), code);
  }

  /**
   * Runs the code on a fiber, so deep in its stack that a park throws a StackOverflowError. The
   * stack suffices for the code itself.
   */
  public static void runWhereParkFails(Runnable code) {
    runWhereParkFails(levels -> Patience.value(Patience.callOnFiber(() -> runAtDepth(levels, code))));
  }

  /** Calls the predicate with different numbers of levels until it returns true. */
  public static void runWhereParkFails(IntPredicate ranBelow) {
    int levels = 500;
    for (int tries = 0; tries < 200; tries++, levels = levels > 20_000 ? 500 : levels + levels / 5)
      if (ranBelow.test(levels)) return;
    throw new AssertionError("every park worked");
  }

  /**
   * Runs the code this many levels deeper in the stack, and returns true. Returns false, and does
   * not run the code, if a park succeeds at that depth, or if the stack overflows before it.
   */
  public static boolean runAtDepth(int levels, Runnable code) {
    var entered = new AtomicBoolean();
    try {
      return Interpreted.descent().ranBelow(levels, () -> {
        entered.set(true);
        code.run();
      });
    } catch (StackOverflowError overflow) {
      if (entered.get()) throw overflow;
      return false;
    }
  }

  interface Descent {
    boolean ranBelow(int levels, Runnable code);
  }

  /**
   * A class that is loaded again for each descent, so that the JVM interprets its methods. A park
   * fails only below interpreted frames.
   */
  static final class Interpreted implements Descent {
    Interpreted() {}

    static Descent descent() {
      try (var code = Interpreted.class.getResourceAsStream("StackEdge$Interpreted.class")) {
        var hiddenClass = MethodHandles.lookup().defineHiddenClass(code.readAllBytes(), false).lookupClass();
        return (Descent) hiddenClass.getDeclaredConstructor().newInstance();
      } catch (IOException | ReflectiveOperationException failure) {
        throw new AssertionError(failure);
      }
    }

    @Override
    public boolean ranBelow(int levels, Runnable code) {
      if (levels > 0) return ranBelow(levels - 1, code);
      try {
        Thread.yield();
        return false;
      } catch (StackOverflowError parkFailure) {
        code.run();
        return true;
      }
    }
  }

  private void play(int firstLevel, IntConsumer code) {
    var thread = new Thread(null, () -> {
      try {
        descend(0, firstLevel, code);
      } catch (StackOverflowError | RequestException expected) {}
    }, "overflowing", STACK_BYTES);
    thread.setDaemon(true);
    thread.start();
    Patience.progress("the thread does not come deeper", () -> deepest, () -> !thread.isAlive());
  }

  private void descend(int level, int firstLevel, IntConsumer code) {
    deepest = level;
    if (level >= firstLevel) code.accept(level);
    descend(level + 1, firstLevel, code);
  }
}
