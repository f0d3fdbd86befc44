package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Patience;
import io.fibry.testing.StressRuns;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ActorTimersTest {
  private final ActorTimers timers = new ActorTimers();

  private static final class StoredTimer extends AttachedTimer {
    private final long dueAt;

    StoredTimer(long dueAt) {
      super(dueAt);
      this.dueAt = dueAt;
    }

    @Override
    protected void fire() {}

    @Override
    protected boolean isAfter(AttachedTimer other) {
      return false;
    }

    @Override
    protected boolean isDue(long now) {
      return now >= dueAt;
    }

    @Override
    protected Optional<Object> cancelAtEnd() {
      return Optional.empty();
    }

    @Override
    public boolean cancel() {
      return false;
    }
  }

  private StoredTimer added(long dueAt) {
    var timer = new StoredTimer(dueAt);
    assertTrue(timers.add(timer));
    return timer;
  }

  /** Returns the timers from the oldest to the newest, with removed timers that did not leave. */
  private static List<AttachedTimer> linked(Object newest) {
    var linked = new ArrayList<AttachedTimer>();
    for (var timer = (AttachedTimer) newest; timer != null; timer = timer.older) linked.add(timer);
    return linked.reversed();
  }

  @Test
  void removedTimersLeaveAtOnceInAnyOrder() {
    long seed = StressRuns.seed();
    System.out.println("removed timers: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    var expected = new ArrayList<AttachedTimer>();

    for (int i = 0; i < 5_000; i++) {
      if (random.nextInt(i % 2_000 < 1_000 ? 3 : 2) > 0) expected.add(added(0));
      else if (!expected.isEmpty()) timers.remove(expected.remove(random.nextInt(expected.size())));
      if (i % 50 == 0) assertEquals(expected, linked(timers.get()), "seed " + seed);
    }
    Collections.shuffle(expected, random);
    for (var timer : expected) timers.remove(timer);

    assertNull(timers.get(), "seed " + seed);
    assertTrue(timers.isEmpty());
  }

  @Test
  void removedTimerKeepsNoNewerTimer() {
    var first = added(0);
    var second = added(0);
    added(0);

    timers.remove(first);
    timers.remove(second);

    assertNull(first.newer());
    assertNull(second.newer());
  }

  @Test
  void timerRemovedBeforeItIsAddedStaysOut() {
    var timer = new StoredTimer(0);
    timers.remove(timer);

    assertTrue(timers.add(timer));

    assertTrue(timers.isEmpty());
  }

  @Test
  void removedTimerIsNotDue() {
    var early = added(1);
    added(5);

    assertTrue(timers.hasDue(1));
    timers.remove(early);

    assertFalse(timers.hasDue(4));
    assertTrue(timers.hasDue(5));
  }

  @Test
  void endedListRefusesTimers() {
    var timer = added(0);
    assertFalse(timers.endIfEmpty());

    assertEquals(List.of(timer), linked(timers.end()));

    assertFalse(timers.add(new StoredTimer(0)));
    assertFalse(timers.hasDue(1));
    timers.remove(timer);
    assertTrue(timers.isEmpty());
  }

  @Test
  void emptyListEndsOnce() {
    timers.remove(added(0));

    assertTrue(timers.endIfEmpty());
    assertFalse(timers.endIfEmpty());
    assertFalse(timers.add(new StoredTimer(0)));
  }

  /**
   * Threads set timers. Each thread removes its own timers, and timers of the next thread. At the
   * end, all timers that were not removed are in the list, and hardly any other.
   */
  @Test
  void threadsThatRemoveNeighborsLoseNoTimer() {
    long seed = StressRuns.seed();
    System.out.println("timers of several threads: -Dfibry.seed=" + seed);
    int threads = 4;
    var stored = new ArrayList<List<StoredTimer>>();
    for (int i = 0; i < threads; i++) stored.add(Collections.synchronizedList(new ArrayList<>()));
    var tasks = new ArrayList<Callable<Void>>();
    for (int i = 0; i < threads; i++) {
      var own = stored.get(i);
      var others = stored.get((i + 1) % threads);
      var random = new Random(seed + i);
      tasks.add(() -> {
        for (int n = 0; n < 20_000; n++) {
          if (random.nextInt(2) == 0) own.add(added(0));
          else removeOne(random.nextBoolean() ? own : others, random);
        }
        return null;
      });
    }
    var ends = tasks.stream().map(Patience::callOnFiber).toList();
    ends.forEach(Patience::value);

    var linked = linked(timers.end());
    Set<AttachedTimer> pending = new LinkedHashSet<>(linked);
    assertEquals(linked.size(), pending.size(), "seed " + seed);
    pending.removeIf(AttachedTimer::isRemoved);
    for (var own : stored) {
      assertEquals(own, pending.stream().filter(new LinkedHashSet<>(own)::contains).toList(), "seed " + seed);
      pending.removeAll(new LinkedHashSet<>(own));
    }
    assertEquals(Set.of(), pending, "seed " + seed);
    long removed = linked.stream().filter(AttachedTimer::isRemoved).count();
    assertTrue(removed <= linked.size() / 10 + threads, removed + " removed timers stayed, seed " + seed);
  }

  private void removeOne(List<StoredTimer> own, Random random) {
    StoredTimer timer;
    synchronized (own) {
      if (own.isEmpty()) return;
      timer = own.remove(random.nextInt(own.size()));
    }
    timers.remove(timer);
  }

  /**
   * Two threads have removed neighbors at the same time: a link leads to a removed timer, which has
   * no link to a newer timer.
   */
  @Test
  void olderTimersLeaveAfterRaceOfNeighbors() {
    var oldest = added(0);
    var older = IntStream.range(0, 5).mapToObj(i -> added(0)).toList();
    var removed = added(0);
    var newest = added(0);
    timers.remove(removed);
    older.getLast().setNewer(removed);

    for (var timer : older.reversed()) timers.remove(timer);

    assertEquals(List.of(oldest, newest), linked(timers.get()));
  }

  /** If each removal walked through all timers, this test would take minutes. */
  @Test
  void hardlyAnyTimerStaysAfterManyRacesOfNeighbors() {
    long seed = StressRuns.seed();
    System.out.println("races of neighbors: -Dfibry.seed=" + seed);
    var older = new ArrayList<StoredTimer>();
    for (int i = 0; i < 100_000; i++) older.add(added(0));
    var removed = added(0);
    var newest = added(0);
    timers.remove(removed);
    Collections.shuffle(older, new Random(seed));

    for (int left = older.size() - 1; left >= 0; left--) {
      older.get(left).setNewer(removed);
      timers.remove(older.get(left));
      if (left % 10_000 != 0) continue;
      var linked = linked(timers.get());
      long removedCount = linked.stream().filter(AttachedTimer::isRemoved).count();
      assertEquals(left + 1, linked.size() - removedCount, "seed " + seed); // with the newest timer
      assertTrue(removedCount <= left / 16 + 2, removedCount + " removed timers stayed, seed " + seed);
    }
    assertEquals(newest, timers.get());
  }
}
