package io.fibry.engine.scope;

import io.fibry.engine.cell.ActorInspector;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.QueueAges;
import io.fibry.spi.ActorNames;
import io.fibry.spi.ActorTotals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

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
  private final long[] handledByEnded;
  private final long[] failedByEnded;
  private final long[] refusedByEnded;
  // The next four are guarded by the monitor. Threads take the monitor before the lock of the tree
  private final long[] minHandled; // this and the next two: the result of the last reader
  private final long[] minFailed;
  private final long[] minRefused;
  private List<Total> finalTotals; // null until the close

  NamedTotals(MemberScope scope, ActorNames names) {
    this.scope = scope;
    this.names = names;
    int size = names.list().size();
    this.handledByEnded = new long[size];
    this.failedByEnded = new long[size];
    this.refusedByEnded = new long[size];
    this.minHandled = new long[size];
    this.minFailed = new long[size];
    this.minRefused = new long[size];
  }

  /** Returns whether an actor of this name belongs to a sum. The name may be null. */
  boolean counts(String label) {
    return label != null && names.indexOf(label) >= 0;
  }

  /**
   * Adds the final counts of an actor that has left its scope. Called under the lock of the tree.
   */
  void addEnded(String label, long handled, long failed, long refused) {
    int index = label == null ? -1 : names.indexOf(label);
    if (index < 0) return;
    handledByEnded[index] += handled;
    failedByEnded[index] += failed;
    refusedByEnded[index] += refused;
  }

  @Override
  public synchronized List<Total> read() {
    return finalTotals == null ? sum() : finalTotals;
  }

  private List<Total> sum() {
    long[] handled;
    long[] failed;
    long[] refused;
    var cells = new ArrayList<Cell>();
    synchronized (scope.totalsLock()) {
      handled = handledByEnded.clone();
      failed = failedByEnded.clone();
      refused = refusedByEnded.clone();
      scope.addActors(cells);
    }
    int[] living = new int[handled.length];
    long[] queued = new long[handled.length];
    long[] oldestNanos = new long[handled.length];
    long[] busyNanos = new long[handled.length];
    for (var cell : cells) {
      String label = cell.label();
      int index = label == null ? -1 : names.indexOf(label);
      if (index < 0) continue;
      living[index]++;
      handled[index] += cell.handled();
      failed[index] += cell.failed();
      refused[index] += cell.refused();
      queued[index] += cell.countQueued(ScopeDump.MAX_COUNTED);
      oldestNanos[index] = Math.max(oldestNanos[index], QueueAges.observe(cell));
      for (var worker : cell.workersAndSelf())
        busyNanos[index] = Math.max(busyNanos[index], ActorInspector.busyTime(worker).nanos());
    }
    var totals = new ArrayList<Total>();
    for (int i = 0; i < handled.length; i++) {
      minHandled[i] = Math.max(minHandled[i], handled[i]);
      minFailed[i] = Math.max(minFailed[i], failed[i]);
      minRefused[i] = Math.max(minRefused[i], refused[i]);
      totals.add(new Total(names.list().get(i), living[i], minHandled[i], minFailed[i], minRefused[i], queued[i],
          Duration.ofNanos(oldestNanos[i]), Duration.ofNanos(busyNanos[i])));
    }
    return List.copyOf(totals);
  }

  @Override
  public synchronized void close() {
    if (finalTotals != null) return;
    finalTotals = sum();
    scope.removeTotals(this);
  }

  @Override
  public String toString() {
    return "totals of " + names + " in scope '" + scope.name() + "'";
  }
}
