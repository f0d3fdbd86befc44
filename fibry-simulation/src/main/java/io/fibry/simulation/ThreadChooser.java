package io.fibry.simulation;

import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** Chooses the thread that goes next, in one run. Used by the carrier. */
interface ThreadChooser {
  int MAX_ODDS_EXPONENT = 10; // at fine points, a thread gives way once in 2 to once in 1,024

  /** @param ready two or more threads, the thread that has been ready for longest first */
  int choose(List<SimulatedThread> ready, long step);

  default void onStart(SimulatedThread task) {}

  /** It waits without parking: others come first now. */
  default void onYield(SimulatedThread task) {}

  /** Whether the thread that runs gives way at a fine point. */
  default boolean shouldYield() {
    return false;
  }

  static ThreadChooser oldest() {
    return (ready, step) -> 0;
  }

  static ThreadChooser randomWalk(long seed) {
    var random = new SplittableRandom(seed);
    return (ready, step) -> random.nextInt(ready.size());
  }

  static ThreadChooser sticky(long seed) {
    var random = new SplittableRandom(seed);
    return new ThreadChooser() {
      private @Nullable SimulatedThread last;

      @Override
      public int choose(List<SimulatedThread> ready, long step) {
        int at = random.nextInt(4) == 0 ? -1 : ready.indexOf(last);
        if (at < 0) at = random.nextInt(ready.size());
        last = ready.get(at);
        return at;
      }

      @Override
      public void onYield(SimulatedThread task) {
        last = null;
      }
    };
  }

  static ThreadChooser priorities(long seed, int changes, long steps) {
    var random = new SplittableRandom(seed);
    long[] changeAt = random.longs(changes, 0, Math.max(1, steps)).sorted().toArray();
    return new ThreadChooser() {
      private int lowest;
      private int changed;

      @Override
      public void onStart(SimulatedThread task) {
        task.priority = random.nextInt(1, 1 << 30);
      }

      @Override
      public void onYield(SimulatedThread task) {
        task.priority = --lowest;
      }

      @Override
      public int choose(List<SimulatedThread> ready, long step) {
        int at = highest(ready);
        for (; changed < changeAt.length && changeAt[changed] <= step; changed++) {
          onYield(ready.get(at));
          at = highest(ready);
        }
        return at;
      }
    };
  }

  /** Another one, with chance at fine points: in some runs high, in others low. */
  static ThreadChooser withFinePoints(long seed, ThreadChooser choice) {
    var random = new SplittableRandom(seed);
    int odds = 2 << random.nextInt(MAX_ODDS_EXPONENT);
    return new ThreadChooser() {
      @Override
      public boolean shouldYield() {
        return random.nextInt(odds) == 0;
      }

      @Override
      public int choose(List<SimulatedThread> ready, long step) {
        return choice.choose(ready, step);
      }

      @Override
      public void onStart(SimulatedThread task) {
        choice.onStart(task);
      }

      @Override
      public void onYield(SimulatedThread task) {
        choice.onYield(task);
      }
    };
  }

  private static int highest(List<SimulatedThread> ready) {
    int at = 0;
    for (int i = 1; i < ready.size(); i++) if (ready.get(i).priority > ready.get(at).priority) at = i;
    return at;
  }

  static ThreadChooser of(Decisions decisions) {
    return new ThreadChooser() {
      private int next;

      @Override
      public int choose(List<SimulatedThread> ready, long step) {
        return Math.min(decisions.rank(next++), ready.size() - 1);
      }

      @Override
      public boolean shouldYield() {
        return decisions.rank(next++) > 0;
      }
    };
  }
}
