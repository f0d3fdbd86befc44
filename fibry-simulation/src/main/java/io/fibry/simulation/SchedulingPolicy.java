package io.fibry.simulation;

/** Which thread runs next when several could. No policy finds every bug, so seeds take turns. */
public enum SchedulingPolicy {

  /** Each seed one of {@link #RANDOM_WALK}, {@link #STICKY}, {@link #PRIORITIES}. */
  MIX,

  /** A random ready thread. */
  RANDOM_WALK,

  /** Mostly the thread that ran last: few switches, and actors that starve. */
  STICKY,

  /**
   * Each thread has a priority, and the highest goes; at one or two moments it falls behind all
   * others (PCT). Finds what needs a rare order of few events.
   */
  PRIORITIES,

  /**
   * The thread that has been ready for longest, as on a quiet machine: one order for all seeds.
   */
  OLDEST_FIRST;

  /** {@return chooses in one run} Steps are an estimate of its length. */
  ThreadChooser choice(long seed, long steps) {
    long mixed = seed * 0x9E3779B97F4A7C15L + 77;
    return switch (this) {
      case MIX -> switch ((int) Math.floorMod(seed, 4L)) {
        case 0 -> ThreadChooser.randomWalk(mixed);
        case 1 -> ThreadChooser.sticky(mixed);
        case 2 -> ThreadChooser.priorities(mixed, 1, steps);
        default -> ThreadChooser.priorities(mixed, 2, steps);
      };
      case RANDOM_WALK -> ThreadChooser.randomWalk(mixed);
      case STICKY -> ThreadChooser.sticky(mixed);
      case PRIORITIES -> ThreadChooser.priorities(mixed, 1 + (int) Math.floorMod(seed, 2L), steps);
      case OLDEST_FIRST -> ThreadChooser.oldest();
    };
  }
}
