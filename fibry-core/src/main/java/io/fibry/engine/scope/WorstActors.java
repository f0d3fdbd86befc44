package io.fibry.engine.scope;

import io.fibry.engine.cell.ActorInspector;
import io.fibry.engine.cell.Cell;
import io.fibry.spi.ActorNames;
import io.fibry.spi.ActorTotals.Worst;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Finds the actors of each name that have failed, refused, let requests expire, or restarted most
 * in the last minutes.
 *
 * <p>Time is divided into periods. At the start of a period, also of the first, the counts of the
 * actors that ever had a problem are remembered by the names of the actors. The growth since then
 * makes an actor the worst of the period. Until an actor has a problem in this period, the worst
 * actor of the previous period is returned. So a name is returned for at least a period after the
 * last problem, if actors are read often, and all readers get the same name. Among equals, the
 * first remains the worst, because each new name is a new series of a monitoring system.
 *
 * <p>Actors with equal names have their sum. An actor that has ended counts alone. When an actor
 * ends while another has its name, the growth may include problems from before the period.
 */
final class WorstActors {
  // the kinds of problems; no enum, because the engine lists all classes with a static initializer
  static final int FAILED = 0;
  static final int REFUSED = 1;
  static final int RESTARTED = 2;
  static final int EXPIRED = 3;
  private static final int PROBLEMS = 4;

  private static final long PERIOD_NANOS = 5L * 60 * 1_000_000_000; // five minutes
  private static final int MAX_REMEMBERED = 10_000;

  // The counts of actors by their names at the start of the period. Written by readers and by the
  // thread that makes the totals, read by actors that end; never changed after the write
  private volatile Map<String, long[]> atStart = Map.of();
  private final Leader[] ended; // by the index of the name and of the problem; guarded by the lock of the tree
  // The next four are guarded by the monitor of the totals
  private final Leader[] current; // of this period
  private final Leader[] previous; // of the period before
  private Map<String, long[]> living = Map.of(); // the counts of the actors that this reader has added
  private long startNanos; // of this period

  /** The worst actor so far. */
  private static final class Leader {
    private String actor; // null: none
    private long count; // 0: none

    /** Makes no object. */
    void offer(String candidate, long candidateCount) {
      if (candidateCount < count || candidateCount == count && !candidate.equals(actor)) return;
      actor = candidate;
      count = candidateCount;
    }

    void set(Leader other) {
      actor = other.actor;
      count = other.count;
    }

    void clear() {
      actor = null;
      count = 0;
    }
  }

  /**
   * Makes an object without actors; {@link #begin} begins the first period.
   *
   * @param names how many names there are
   * @param nanos the time by the clock of the scope
   */
  WorstActors(int names, long nanos) {
    this.startNanos = nanos;
    this.ended = leaders(names);
    this.current = leaders(names);
    this.previous = leaders(names);
  }

  private static Leader[] leaders(int names) {
    return Stream.generate(Leader::new).limit((long) names * PROBLEMS).toArray(Leader[]::new);
  }

  /** Makes no object, because an actor may end while no memory is left. */
  private static long count(Cell cell, int problem) {
    return switch (problem) {
      case FAILED -> cell.failed();
      case REFUSED -> cell.refused();
      case EXPIRED -> ActorInspector.expired(cell);
      default -> ActorInspector.restarted(cell);
    };
  }

  /** Adds an actor that has ended. Called under the lock of the tree. Makes no object. */
  void addEnded(int name, Cell cell) {
    for (int problem = 0; problem < PROBLEMS; problem++) {
      long growth = growth(cell.label(), problem, count(cell, problem));
      if (growth > 0) ended[index(name, problem)].offer(cell.label(), growth);
    }
  }

  private static int index(int name, int problem) {
    return name * PROBLEMS + problem;
  }

  /** Begins a read. An earlier reader may have failed after it added some actors. */
  void beginRead() {
    living = new HashMap<>();
  }

  /** Adds a living actor. A reader adds all living actors of the names before {@link #update}. */
  void addLiving(Cell cell) {
    for (int problem = 0; problem < PROBLEMS; problem++) {
      long count = count(cell, problem);
      if (count > 0 && (living.size() < MAX_REMEMBERED || living.containsKey(cell.label())))
        living.computeIfAbsent(cell.label(), label -> new long[PROBLEMS])[problem] += count;
    }
  }

  /**
   * Finds the worst actors among the added actors and the actors that have ended. Begins the next
   * period if this period is over.
   *
   * @param names the names of the totals
   * @param nanos the time by the clock of the scope
   * @param lock the lock of the tree
   */
  void update(ActorNames names, long nanos, Object lock) {
    for (int i = 0; i < current.length; i++) { // first, because among equals the first remains the worst
      var leader = current[i];
      if (leader.actor != null && living.containsKey(leader.actor)) offer(i, leader.actor);
    }
    for (var actor : living.keySet()) {
      int first = names.indexOf(actor) * PROBLEMS;
      for (int i = 0; i < PROBLEMS; i++) offer(first + i, actor);
    }
    boolean isPeriodOver = nanos - startNanos >= PERIOD_NANOS;
    synchronized (lock) {
      for (int i = 0; i < ended.length; i++) {
        if (ended[i].actor != null) current[i].offer(ended[i].actor, ended[i].count);
        if (isPeriodOver) ended[i].clear();
      }
      if (isPeriodOver) atStart = living;
    }
    if (isPeriodOver) {
      for (int i = 0; i < current.length; i++) {
        previous[i].set(current[i]);
        current[i].clear();
      }
      startNanos = nanos;
    }
    living = Map.of();
  }

  /**
   * Begins the first period: problems that the added actors already had do not count.
   *
   * @param lock the lock of the tree
   */
  void begin(Object lock) {
    synchronized (lock) {
      for (var leader : ended) leader.clear();
      atStart = living;
    }
  }

  private void offer(int index, String actor) {
    int problem = index % PROBLEMS;
    long growth = growth(actor, problem, living.get(actor)[problem]);
    if (growth > 0) current[index].offer(actor, growth);
  }

  /** Returns the worst actor of a name, as the last {@link #update} has found it. */
  Optional<Worst> worst(int name, int problem) {
    int index = index(name, problem);
    var leader = current[index].actor == null ? previous[index] : current[index];
    return Optional.ofNullable(leader.actor).map(actor -> new Worst(actor, leader.count));
  }

  /**
   * Returns 0 if so many actors had problems at the start of the period that the growth is unknown.
   * A count that is smaller than at the start belongs to a new actor of the name, so all of it is
   * growth.
   */
  private long growth(String actor, int problem, long count) {
    var remembered = atStart;
    long[] counts = remembered.get(actor);
    if (counts == null) return remembered.size() < MAX_REMEMBERED ? count : 0;
    return count < counts[problem] ? count : count - counts[problem];
  }
}
