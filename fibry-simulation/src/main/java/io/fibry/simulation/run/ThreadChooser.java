package io.fibry.simulation.run;

import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the thread whose step runs next, in one run. Used by the carrier and simulated threads.
 */
public interface ThreadChooser {
  // the seed decides how often a thread gives way: from once in 2 to once in 1,024 yield points
  int MAX_ODDS_EXPONENT = 10;

  /**
   * Returns the index of the chosen thread.
   *
   * @param ready two or more threads; the thread that has been ready for longest is the first
   * @param step the number of steps so far
   */
  int choose(List<SimulatedThread> ready, long step);

  /** Called when a thread starts. */
  default void onStart(SimulatedThread fiber) {}

  /** Called when a thread gives way or waits without parking: other threads should run first. */
  default void onYield(SimulatedThread fiber) {}

  /** Returns whether the running thread gives way at the yield point that it passes. */
  default boolean shouldYield() {
    return false;
  }

  static ThreadChooser oldestFirst() {
    return (ready, step) -> 0;
  }

  static ThreadChooser randomWalk(long seed) {
    var random = new SplittableRandom(seed);
    return (ready, step) -> random.nextInt(ready.size());
  }

  static ThreadChooser sticky(long seed) {
    var random = new SplittableRandom(seed);
    return new ThreadChooser() {
      private @Nullable SimulatedThread lastThread;

      @Override
      public int choose(List<SimulatedThread> ready, long step) {
        int index = random.nextInt(4) == 0 ? -1 : ready.indexOf(lastThread);
        if (index < 0) index = random.nextInt(ready.size());
        lastThread = ready.get(index);
        return index;
      }

      @Override
      public void onYield(SimulatedThread fiber) {
        lastThread = null;
      }
    };
  }

  static ThreadChooser priorities(long seed, int changeCount, long steps) {
    var random = new SplittableRandom(seed);
    long[] changeSteps = random.longs(changeCount, 0, Math.max(1, steps)).sorted().toArray();
    return new ThreadChooser() {
      private int lowestPriority;
      private int nextChange; // index in changeSteps

      @Override
      public void onStart(SimulatedThread fiber) {
        fiber.priority = random.nextInt(1, 1 << 30);
      }

      @Override
      public void onYield(SimulatedThread fiber) {
        fiber.priority = --lowestPriority;
      }

      @Override
      public int choose(List<SimulatedThread> ready, long step) {
        int index = indexOfHighest(ready);
        for (; nextChange < changeSteps.length && changeSteps[nextChange] <= step; nextChange++) {
          onYield(ready.get(index));
          index = indexOfHighest(ready);
        }
        return index;
      }
    };
  }

  /**
   * Returns a chooser that also gives way at yield points, with a probability that depends on the
   * seed.
   */
  static ThreadChooser withYieldPoints(long seed, ThreadChooser chooser) {
    var random = new SplittableRandom(seed);
    int odds = 2 << random.nextInt(MAX_ODDS_EXPONENT);
    return new ThreadChooser() {
      @Override
      public boolean shouldYield() {
        return random.nextInt(odds) == 0;
      }

      @Override
      public int choose(List<SimulatedThread> ready, long step) {
        return chooser.choose(ready, step);
      }

      @Override
      public void onStart(SimulatedThread fiber) {
        chooser.onStart(fiber);
      }

      @Override
      public void onYield(SimulatedThread fiber) {
        chooser.onYield(fiber);
      }
    };
  }

  private static int indexOfHighest(List<SimulatedThread> ready) {
    int highestIndex = 0;
    for (int i = 1; i < ready.size(); i++)
      if (ready.get(i).priority > ready.get(highestIndex).priority) highestIndex = i;
    return highestIndex;
  }

  static ThreadChooser of(Decisions decisions) {
    return new ThreadChooser() {
      private int nextDecision;

      @Override
      public int choose(List<SimulatedThread> ready, long step) {
        return Math.min(decisions.rank(nextDecision++), ready.size() - 1);
      }

      @Override
      public boolean shouldYield() {
        return decisions.rank(nextDecision++) > 0;
      }
    };
  }
}
