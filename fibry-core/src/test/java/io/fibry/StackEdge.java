package io.fibry;

import io.fibry.support.Patience;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;

/** Threads that call code at each level of a recursion, until the stack or the code overflows. */
public final class StackEdge {
  private static final int STACK = 256 << 10;
  private static final int NEAR = 120; // levels

  private final SplittableRandom random;
  private volatile int deepest; // written by the thread that descends

  public StackEdge(SplittableRandom random) {
    this.random = random;
  }

  /** Calls the code near the edge only, so that it is still well there. */
  public void overflow(IntConsumer code) {
    play(Integer.MAX_VALUE, code);
    play(Math.max(0, deepest - 1 - random.nextInt(NEAR)), code);
  }

  /**
   * Runs the code on a fiber, so far down its stack that it cannot park: a park throws a
   * StackOverflowError. The code still has a good part of the stack.
   */
  public static void whereNoParkWorks(Runnable code) {
    whereNoParkWorks(levels -> {
      var ran = new CompletableFuture<Boolean>();
      Thread.startVirtualThread(() -> {
        try {
          ran.complete(ranBelow(levels, code));
        } catch (Throwable thrown) {
          ran.completeExceptionally(thrown);
        }
      });
      return Patience.value(ran);
    });
  }

  /** Calls it with numbers of levels, over and over, until it returns true. */
  public static void whereNoParkWorks(IntPredicate ranBelow) {
    int levels = 500;
    for (int tries = 0; tries < 200; tries++, levels = levels > 20_000 ? 500 : levels + levels / 5)
      if (ranBelow.test(levels)) return;
    throw new AssertionError("every park worked");
  }

  /** Runs the code so many levels below, unless a park works there, or the stack ends before. */
  public static boolean ranBelow(int levels, Runnable code) {
    var begun = new AtomicBoolean();
    try {
      return Interpreted.descent().ranBelow(levels, () -> {
        begun.set(true);
        code.run();
      });
    } catch (StackOverflowError edge) {
      if (begun.get()) throw edge;
      return false;
    }
  }

  interface Descent {
    boolean ranBelow(int levels, Runnable code);
  }

  /** Each is of a class of its own: a park works while all frames of the stack are compiled. */
  static final class Interpreted implements Descent {
    Interpreted() {}

    static Descent descent() {
      try (var code = Interpreted.class.getResourceAsStream("StackEdge$Interpreted.class")) {
        var fresh = MethodHandles.lookup().defineHiddenClass(code.readAllBytes(), false).lookupClass();
        return (Descent) fresh.getDeclaredConstructor().newInstance();
      } catch (IOException | ReflectiveOperationException impossible) {
        throw new AssertionError(impossible);
      }
    }

    @Override
    public boolean ranBelow(int levels, Runnable code) {
      if (levels > 0) return ranBelow(levels - 1, code);
      try {
        Thread.yield();
        return false;
      } catch (StackOverflowError here) {
        code.run();
        return true;
      }
    }
  }

  private void play(int from, IntConsumer code) {
    var thread = new Thread(null, () -> {
      try {
        descend(0, from, code);
      } catch (StackOverflowError | RequestException expected) {}
    }, "overflowing", STACK);
    thread.setDaemon(true);
    thread.start();
    Patience.progress("the thread does not come deeper", () -> deepest, () -> !thread.isAlive());
  }

  private void descend(int level, int from, IntConsumer code) {
    deepest = level;
    if (level >= from) code.accept(level);
    descend(level + 1, from, code);
  }
}
