package io.fibry.simulation;

import io.fibry.simulation.run.ThreadChooser;

/**
 * Decides which thread runs next if several threads are ready. No single policy finds all bugs, so
 * by default the policy depends on the seed.
 */
public enum SchedulingPolicy {

  /** Uses {@link #RANDOM_WALK}, {@link #STICKY} or {@link #PRIORITIES}, depending on the seed. */
  MIX,

  /** Runs a random ready thread. */
  RANDOM_WALK,

  /** Mostly runs the thread that ran last. This causes few switches, and actors that starve. */
  STICKY,

  /**
   * Gives each thread a random priority, and runs the thread with the highest. At one or two random
   * steps, the thread that would run gets the lowest priority (probabilistic concurrency testing,
   * PCT). Finds bugs that need a rare order of few events.
   */
  PRIORITIES,

  /**
   * Runs the thread that has been ready for longest, as on a quiet machine. All seeds have the same
   * order, unless random numbers or faults change it.
   */
  OLDEST_FIRST;

  /** {@return the chooser for one run} The number of steps is an estimate. */
  ThreadChooser chooser(long seed, long steps) {
    long mixedSeed = seed * 0x9E3779B97F4A7C15L + 77;
    return switch (this) {
      case MIX -> switch ((int) Math.floorMod(seed, 4L)) {
        case 0 -> ThreadChooser.randomWalk(mixedSeed);
        case 1 -> ThreadChooser.sticky(mixedSeed);
        case 2 -> ThreadChooser.priorities(mixedSeed, 1, steps);
        default -> ThreadChooser.priorities(mixedSeed, 2, steps);
      };
      case RANDOM_WALK -> ThreadChooser.randomWalk(mixedSeed);
      case STICKY -> ThreadChooser.sticky(mixedSeed);
      case PRIORITIES -> ThreadChooser.priorities(mixedSeed, 1 + (int) Math.floorMod(seed, 2L), steps);
      case OLDEST_FIRST -> ThreadChooser.oldestFirst();
    };
  }
}
