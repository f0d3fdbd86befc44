package io.fibry.engine.scope;

import io.fibry.engine.cell.ActorInspector;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.QueueAges;
import io.fibry.spi.ActorNames;
import io.fibry.spi.ActorTotals;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Sums counts of actors by name. While an actor is a member of its scope, its counts are read from
 * the actor; from then on, they are in the arrays below.
 *
 * <p><b>Once.</b> An actor leaves its scope, and its counts enter the arrays, under the lock of the
 * tree of scopes. A reader copies the arrays and lists the members under the same lock, so that it
 * finds each actor in exactly one of the two. Then, without the lock, the reader reads the counts
 * of the listed actors. An actor that has ended meanwhile still has its final counts.
 *
 * <p><b>Growth.</b> The count of an actor that handles a multi-step message shrinks for a moment
 * when the message is completed, until its steps are settled. The counts of an actor that ended
 * while these totals were made are added shortly after it has left its scope. So a reader returns
 * at least the numbers of the reader before.
 */
final class NamedTotals implements ActorTotals {
  /** The scope of the actors. */
  interface MemberScope {
    String name();

    /** Returns the time by the clock of the scope. */
    long nanoTime();

    /** Returns the clock of the scope. */
    Scheduler scheduler();

    /** Returns the lock under which actors move from the members of their scopes to the totals. */
    Object totalsLock();

    /** Adds the actors of the scope and its inner scopes, in any order. */
    void addActors(List<Cell> actors);

    /** Stops the addition of ended actors to these totals. */
    void removeTotals(NamedTotals removed);
  }

  private final MemberScope scope;
  private final ActorNames names;
  // Counts of the actors that have ended, by the index of the name. Guarded by the lock of the tree
  private final Counts[] ended;
  // The next ones are guarded by the monitor. Threads take the monitor before the lock of the tree
  private final Counts[] last; // the result of the last reader
  private List<Total> finalTotals; // null until the close
  private final WorstActors worst;
  private final GrowingQueues growing;
  private final List<NamedMaximum> longestQueues; // by the index of the name, as the next one
  private final List<NamedMaximum> mostSuspended;
  private final WaitObserver waitObserver = new WaitObserver();

  /** The counts of one name that never shrink. */
  private static final class Counts {
    long handled;
    long failed;
    long refused;
    long dropped;
    long restarted;

    /** Makes no object, because an actor may end while no memory is left. */
    void add(Cell cell, long handledByCell) {
      handled += handledByCell;
      failed += cell.failed();
      refused += cell.refused();
      dropped += cell.dropped();
      restarted += ActorInspector.restarted(cell);
    }

    Counts copy() {
      var copy = new Counts();
      copy.raiseTo(this);
      return copy;
    }

    void raiseTo(Counts other) {
      handled = Math.max(handled, other.handled);
      failed = Math.max(failed, other.failed);
      refused = Math.max(refused, other.refused);
      dropped = Math.max(dropped, other.dropped);
      restarted = Math.max(restarted, other.restarted);
    }
  }

  /** The oldest wait or the longest work among the actors of one name. */
  private static final class Maximum {
    private long nanos; // 0: none
    private Cell cell; // null: none

    void add(Cell candidate, long candidateNanos) {
      if (candidateNanos <= nanos) return;
      nanos = candidateNanos;
      cell = candidate;
    }

    Duration duration() {
      return Duration.ofNanos(nanos);
    }

    Optional<String> name() {
      return Optional.ofNullable(cell).map(Cell::name);
    }
  }

  /**
   * Tells actors that are late themselves from actors that only wait for another actor of the sums.
   */
  private static final class Causes {
    private final ActorNames names;
    private final List<Cell> cells; // of the scope, with or without a sum
    private Set<Cell> members; // the same cells; null until needed

    Causes(ActorNames names, List<Cell> cells) {
      this.names = names;
      this.cells = cells;
    }

    /**
     * Returns whether the handler waits for an actor that has a sum and has work: it is busy or
     * suspended, or messages wait for it. That actor shows the cause. If it has no work, for
     * example because it has promised its answer for later, only the waiting actor shows the
     * problem.
     */
    boolean isHeldUp(Cell worker) {
      var awaited = ActorInspector.awaitedActor(worker);
      if (awaited == null || indexOf(names, awaited) < 0) return false;
      if (members == null) members = new HashSet<>(cells);
      if (!members.contains(awaited)) return false;
      for (var candidate : awaited.workersAndSelf())
        if (candidate.isSuspended() || candidate != worker && ActorInspector.busyTime(candidate).nanos() > 0)
          return true;
      return awaited.countQueued(1) > 0;
    }
  }

  NamedTotals(MemberScope scope, ActorNames names) {
    this.scope = scope;
    this.names = names;
    this.ended = forNames(Counts::new).toArray(Counts[]::new);
    this.last = forNames(Counts::new).toArray(Counts[]::new);
    this.worst = new WorstActors(names.list().size(), scope.nanoTime());
    this.growing = new GrowingQueues(names);
    this.longestQueues = forNames(() -> new NamedMaximum(GrowingQueues.MIN_NAMED, NamedMaximum.TENTH)).toList();
    this.mostSuspended = forNames(() -> new NamedMaximum(1, NamedMaximum.UNLIMITED)).toList();
  }

  /**
   * Remembers the problems that the actors already had, and the lengths of their queues. Called
   * once, after the scope has begun to add its ended actors. The sums count these problems, but no
   * actor is the worst by them.
   */
  synchronized void begin() {
    var cells = new ArrayList<Cell>();
    synchronized (scope.totalsLock()) {
      scope.addActors(cells);
    }
    worst.beginRead();
    growing.beginRead();
    for (var cell : cells) {
      if (indexOf(cell) < 0) continue;
      worst.addLiving(cell);
      growing.add(cell.label(), cell.countQueued(ScopeDump.MAX_COUNTED));
    }
    worst.begin(scope.totalsLock());
    growing.update(scope.nanoTime());
  }

  private <T> Stream<T> forNames(Supplier<T> constructor) {
    return Stream.generate(constructor).limit(names.list().size());
  }

  /** Returns whether an actor of this name belongs to a sum. The name may be null. */
  boolean counts(String label) {
    return label != null && names.indexOf(label) >= 0;
  }

  /**
   * Adds the final counts of an actor that has left its scope. Called under the lock of the tree.
   */
  void addEnded(Cell cell, long handled) {
    int index = indexOf(cell);
    if (index < 0) return;
    ended[index].add(cell, handled);
    worst.addEnded(index, cell);
  }

  private int indexOf(Cell cell) {
    return indexOf(names, cell);
  }

  private static int indexOf(ActorNames names, Cell cell) {
    String label = cell.label();
    return label == null ? -1 : names.indexOf(label);
  }

  @Override
  public synchronized List<Total> read() {
    return finalTotals == null ? sum() : finalTotals;
  }

  private List<Total> sum() {
    List<Counts> counts;
    var cells = new ArrayList<Cell>();
    synchronized (scope.totalsLock()) {
      counts = Arrays.stream(ended).map(Counts::copy).toList();
      scope.addActors(cells);
    }
    int[] living = new int[ended.length];
    int[] suspended = new int[ended.length];
    long[] queued = new long[ended.length];
    var oldest = forNames(Maximum::new).toList();
    var busiest = forNames(Maximum::new).toList();
    longestQueues.forEach(NamedMaximum::beginRead);
    mostSuspended.forEach(NamedMaximum::beginRead);
    var causes = new Causes(names, cells);
    var waitingCells = new ArrayList<WaitObserver.Waiting>();
    worst.beginRead();
    growing.beginRead();
    for (var cell : cells) {
      int index = indexOf(cell);
      if (index < 0) continue;
      living[index]++;
      counts.get(index).add(cell, cell.handled());
      worst.addLiving(cell);
      int waiting = cell.countQueued(ScopeDump.MAX_COUNTED);
      queued[index] += waiting;
      longestQueues.get(index).add(cell.label(), waiting);
      growing.add(cell.label(), waiting);
      long oldestNanos = QueueAges.observe(cell);
      oldest.get(index).add(cell, oldestNanos);
      if (waiting > 0) waitingCells.add(new WaitObserver.Waiting(cell, oldestNanos));
      int suspendedWorkers = 0;
      for (var worker : cell.workersAndSelf()) {
        long busyNanos = ActorInspector.busyTime(worker).nanos();
        if (busyNanos > busiest.get(index).nanos && !causes.isHeldUp(worker)) busiest.get(index).add(cell, busyNanos);
        if (worker.isSuspended()) suspendedWorkers++;
      }
      suspended[index] += suspendedWorkers;
      mostSuspended.get(index).add(cell.label(), suspendedWorkers);
    }
    worst.update(names, scope.nanoTime(), scope.totalsLock());
    growing.update(scope.nanoTime());
    waitObserver.watch(waitingCells, scope.scheduler());
    var totals = new ArrayList<Total>();
    for (int i = 0; i < ended.length; i++) {
      last[i].raiseTo(counts.get(i));
      totals.add(new Total(names.list().get(i), living[i], suspended[i], last[i].handled, last[i].failed,
          last[i].refused, last[i].dropped, last[i].restarted, queued[i], oldest.get(i).duration(),
          oldest.get(i).name(), busiest.get(i).duration(), busiest.get(i).name(), worst.worst(i, WorstActors.FAILED),
          worst.worst(i, WorstActors.REFUSED), worst.worst(i, WorstActors.RESTARTED),
          worst.worst(i, WorstActors.EXPIRED), growing.worst(i), longestQueues.get(i).update(),
          mostSuspended.get(i).update()));
    }
    return List.copyOf(totals);
  }

  @Override
  public synchronized void close() {
    if (finalTotals != null) return;
    finalTotals = sum();
    waitObserver.close();
    scope.removeTotals(this);
  }

  @Override
  public String toString() {
    return "totals of " + names + " in scope '" + scope.name() + "'";
  }
}
