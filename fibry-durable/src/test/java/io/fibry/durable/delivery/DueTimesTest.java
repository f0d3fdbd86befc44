package io.fibry.durable.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DueTimesTest {
  private static final int ROUNDS = 1_000;

  private final ManualScheduler clock = new ManualScheduler();
  private final AtomicLong offset = new AtomicLong(); // added to the time of the clock, in seconds
  private final List<String> dueKeys = new ArrayList<>();
  private final DueTimes calendar =
      new DueTimes(() -> Instant.EPOCH.plusNanos(clock.nanoTime()).plusSeconds(offset.get()), clock, dueKeys::add);

  private void add(String key, long seconds) {
    calendar.add(key, Instant.EPOCH.plusSeconds(seconds));
  }

  private List<String> dueKeysAfter(long seconds) {
    dueKeys.clear();
    clock.advance(Duration.ofSeconds(seconds));
    return List.copyOf(dueKeys);
  }

  @Test
  void keyIsDueAtEarliestOfItsTimes() {
    add("b", 20);
    add("a", 30);
    add("a", 10);
    add("a", 40);

    assertEquals(List.of("a"), dueKeysAfter(10));
    assertEquals(List.of("b"), dueKeysAfter(10));
    assertEquals(List.of(), dueKeysAfter(100));
  }

  @Test
  void keyAddedAgainAfterItWasDueBecomesDueAgain() {
    add("a", 10);
    dueKeysAfter(10);
    add("a", 15);

    assertEquals(List.of("a"), dueKeysAfter(5));
  }

  @Test
  void clockSetForwardIsNoticedWithinOneMinute() {
    add("a", 36_000);
    dueKeysAfter(30);
    offset.set(36_000);

    assertEquals(List.of("a"), dueKeysAfter(30));
  }

  @Test
  void dueKeysAreDelayedWhenClockIsSetBack() {
    add("a", 10);
    offset.set(-100);

    assertEquals(List.of(), dueKeysAfter(10));
    assertEquals(List.of("a"), dueKeysAfter(100));
  }

  /**
   * Returns the time. After the first call has read it, the call advances the clock by these
   * seconds. For the caller, the clock thus moves between this call and its next statement.
   */
  private Instant readBeforeMove(AtomicLong seconds) {
    var now = Instant.EPOCH.plusNanos(clock.nanoTime());
    clock.advance(Duration.ofSeconds(seconds.getAndSet(0)));
    return now;
  }

  private Instant readOrFail(AtomicBoolean isBroken) {
    if (isBroken.get()) throw new IllegalStateException("made up");
    return Instant.EPOCH.plusNanos(clock.nanoTime());
  }

  @Test
  void keyIsDueAtItsTimeThoughTimePassesDuringAdd() {
    var move = new AtomicLong(4);
    var calendar = new DueTimes(() -> readBeforeMove(move), clock, dueKeys::add);

    calendar.add("a", Instant.EPOCH.plusSeconds(10));

    assertEquals(List.of(), dueKeysAfter(5));
    assertEquals(List.of("a"), dueKeysAfter(1));
  }

  @Test
  void keyIsDueAtOnceIfItsTimePassesDuringAdd() {
    var move = new AtomicLong(10);
    var calendar = new DueTimes(() -> readBeforeMove(move), clock, dueKeys::add);

    calendar.add("a", Instant.EPOCH.plusSeconds(10));
    calendar.add("b", Instant.EPOCH.plusSeconds(30));

    assertEquals(List.of("a"), dueKeys);
    assertEquals(List.of(), dueKeysAfter(19));
    assertEquals(List.of("b"), dueKeysAfter(1));
  }

  @Test
  void sleepEndsOnTimeThoughTimePassesAsItBegins() {
    var move = new AtomicLong(4);
    var calendar = new DueTimes(() -> readBeforeMove(move), clock, dueKeys::add);
    var ended = new CompletableFuture<Void>();
    var sleeper = Patience.startFiber(() -> {
      calendar.sleepUntil(Instant.EPOCH.plusSeconds(10));
      return null;
    }, ended);
    Patience.eventually(() -> clock.isAsleep(sleeper));

    clock.advance(Duration.ofSeconds(6));

    Patience.value(ended);
  }

  @Test
  void keyWithPastTimeIsDueAtOnce() {
    calendar.add("a", Instant.MIN);

    assertEquals(List.of("a"), dueKeys);
  }

  @Test
  void noKeyIsDueAfterClose() {
    add("a", 10);
    calendar.close();
    add("b", 10);

    assertEquals(List.of(), dueKeysAfter(20));
  }

  /** A scheduler may be a user's code, which may throw. */
  @Test
  void dueTimesSurviveFailureOfScheduler() {
    var isBroken = new AtomicBoolean();
    var scheduler = Intercepted.of(Scheduler.class, clock, (method, arguments, call) -> {
      if (method.getName().equals("scheduleAt") && isBroken.get()) throw new IllegalStateException("made up");
      return call.pass();
    });
    var brokenCalendar = new DueTimes(() -> Instant.EPOCH.plusNanos(clock.nanoTime()), scheduler, dueKeys::add);
    brokenCalendar.add("a", Instant.EPOCH.plusSeconds(10));
    brokenCalendar.add("b", Instant.EPOCH.plusSeconds(20));

    isBroken.set(true);
    assertEquals(List.of("a"), dueKeysAfter(10));
    assertThrows(IllegalStateException.class, () -> brokenCalendar.add("c", Instant.EPOCH.plusSeconds(15)));
    isBroken.set(false);
    brokenCalendar.add("d", Instant.EPOCH.plusSeconds(30));

    assertEquals(List.of("c", "b", "d"), dueKeysAfter(20));
  }

  @Test
  void overdueKeyIsDueWhenAddedAgainAfterClockFailure() {
    var isBroken = new AtomicBoolean();
    var calendar = new DueTimes(() -> readOrFail(isBroken), clock, dueKeys::add);
    calendar.add("a", Instant.EPOCH.plusSeconds(10));

    isBroken.set(true);
    assertEquals(List.of(), dueKeysAfter(10));
    isBroken.set(false);
    calendar.add("a", Instant.EPOCH.plusSeconds(15));

    assertEquals(List.of("a"), dueKeys);
  }

  @Test
  void keyIsKeptWhenClockFailsDuringAdd() {
    var isBroken = new AtomicBoolean();
    var calendar = new DueTimes(() -> readOrFail(isBroken), clock, dueKeys::add);
    calendar.add("a", Instant.EPOCH.plusSeconds(10));
    assertEquals(List.of("a"), dueKeysAfter(10));

    isBroken.set(true);
    assertThrows(IllegalStateException.class, () -> calendar.add("b", Instant.EPOCH.plusSeconds(20)));
    isBroken.set(false);
    calendar.add("c", Instant.EPOCH.plusSeconds(30));

    assertEquals(List.of("b", "c"), dueKeysAfter(20));
  }

  /** Returns a scheduler that runs code before and after it sets a timer. */
  private Scheduler around(Runnable before, Runnable after) {
    return Intercepted.of(Scheduler.class, clock, (method, arguments, call) -> {
      if (!method.getName().equals("scheduleAt")) return call.pass();
      before.run();
      var timer = call.pass();
      after.run();
      return timer;
    });
  }

  /** A user's clock or scheduler may wait for a lock of a thread that adds a due time. */
  @Test
  void clockAndSchedulerAreCalledWithoutMonitor() {
    var dueTimes = new AtomicReference<DueTimes>();
    var locked = new ArrayList<String>();
    Consumer<String> check = call -> {
      if (Thread.holdsLock(dueTimes.get())) locked.add(call);
    };
    var scheduler = Intercepted.of(Scheduler.class, clock, (method, arguments, call) -> {
      check.accept(method.getName());
      var result = call.pass();
      return !(result instanceof Scheduler.Timer timer) ? result
          : (Scheduler.Timer) () -> {
            check.accept("cancel");
            return timer.cancel();
          };
    });
    dueTimes.set(new DueTimes(() -> {
      check.accept("now");
      return Instant.EPOCH.plusNanos(clock.nanoTime());
    }, scheduler, key -> {
      check.accept("onDue");
      dueKeys.add(key);
    }));

    for (long seconds : new long[] {10, 20, 5}) dueTimes.get().add("at " + seconds, Instant.EPOCH.plusSeconds(seconds));
    assertEquals(List.of("at 5", "at 10"), dueKeysAfter(10));
    dueTimes.get().close();

    assertEquals(List.of(), locked);
  }

  /** The thread that sets a timer adds an earlier time meanwhile, as another thread might. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void earlierKeyAddedWhileTimerIsSetIsDueOnTime(boolean isAddedAfter) {
    var dueTimes = new AtomicReference<DueTimes>();
    var isFirst = new AtomicBoolean(true);
    Runnable addOnce = () -> {
      if (isFirst.getAndSet(false)) dueTimes.get().add("b", Instant.EPOCH.plusSeconds(5));
    };
    Runnable noCode = () -> {};
    dueTimes.set(new DueTimes(() -> Instant.EPOCH.plusNanos(clock.nanoTime()),
        isAddedAfter ? around(noCode, addOnce) : around(addOnce, noCode), dueKeys::add));

    dueTimes.get().add("a", Instant.EPOCH.plusSeconds(10));

    assertEquals(Optional.of(Duration.ofSeconds(5)), clock.untilNext());
    assertEquals(List.of("b"), dueKeysAfter(5));
    assertEquals(List.of("a"), dueKeysAfter(5));
    assertEquals(Optional.empty(), clock.untilNext());
  }

  /** After the failure, the timer that was set first is not the newest any more. */
  @Test
  void oneTimerIsLeftAfterSchedulerHasFailed() {
    var calls = new AtomicInteger();
    var dueTimes = new DueTimes(() -> Instant.EPOCH.plusNanos(clock.nanoTime()), around(() -> {
      if (calls.incrementAndGet() == 3) throw new IllegalStateException("planned");
    }, () -> {}), dueKeys::add);
    dueTimes.add("c", Instant.EPOCH.plusSeconds(600));
    dueTimes.add("a", Instant.EPOCH); // its timer runs at once, and the third timer, for "c", cannot be set
    assertEquals(List.of("a"), dueKeys);
    dueTimes.add("d", Instant.EPOCH.plusSeconds(700));

    clock.advance(Duration.ofMinutes(2));
    int callsBefore = calls.get();
    clock.advance(Duration.ofMinutes(3));
    assertEquals(3, calls.get() - callsBefore); // one check of the clock each minute

    assertEquals(List.of("c"), dueKeysAfter(300));
    assertEquals(List.of("d"), dueKeysAfter(100));
  }

  /** A timer that runs at once is over when the thread that set it continues. */
  @Test
  void keysAreDueAfterSchedulerHasFailedTwice() {
    var calls = new AtomicInteger();
    var dueTimes = new DueTimes(() -> Instant.EPOCH.plusNanos(clock.nanoTime()), around(() -> {
      if (Set.of(1, 3).contains(calls.incrementAndGet())) throw new IllegalStateException("planned");
    }, () -> {}), dueKeys::add);
    assertThrows(IllegalStateException.class, () -> dueTimes.add("c", Instant.EPOCH.plusSeconds(10)));
    dueTimes.add("a", Instant.EPOCH); // its timer runs at once, and the third timer cannot be set
    assertEquals(List.of("a"), dueKeys);

    dueTimes.add("d", Instant.EPOCH.plusSeconds(20));

    assertEquals(List.of("c"), dueKeysAfter(10));
    assertEquals(List.of("d"), dueKeysAfter(10));
  }

  /** Returns a scheduler that counts its open timers: set, and neither cancelled nor run. */
  private Scheduler countingOpen(AtomicInteger open) {
    return Intercepted.of(Scheduler.class, clock, (method, arguments, call) -> {
      if (!method.getName().equals("scheduleAt")) return call.pass();
      var isOpen = new AtomicBoolean(true);
      open.incrementAndGet();
      var task = (Runnable) arguments[1];
      var timer = clock.scheduleAt((long) arguments[0], () -> {
        if (isOpen.getAndSet(false)) open.decrementAndGet();
        task.run();
      });
      return (Scheduler.Timer) () -> {
        if (isOpen.getAndSet(false)) open.decrementAndGet();
        return timer.cancel();
      };
    });
  }

  /** The timer of the reached key runs before the thread that sets it has stored it. */
  @Test
  void oneTimerIsLeftAfterReachedKeyWasAdded() {
    var open = new AtomicInteger();
    var clockReads = new AtomicInteger();
    var dueTimes = new DueTimes(() -> {
      clockReads.incrementAndGet();
      return Instant.EPOCH.plusNanos(clock.nanoTime());
    }, countingOpen(open), dueKeys::add);
    dueTimes.add("late", Instant.EPOCH.plusSeconds(600));

    dueTimes.add("reached", Instant.EPOCH);

    assertEquals(List.of("reached"), dueKeys);
    assertEquals(1, open.get());
    dueTimes.close();
    assertEquals(0, open.get());
    int readsBefore = clockReads.get();
    clock.advance(Duration.ofMinutes(20));
    assertEquals(readsBefore, clockReads.get());
  }

  /** A timer that cannot be cancelled any more may run after the close. */
  @Test
  void timerThatRunsAfterCloseReadsNoClock() {
    var clockReads = new AtomicInteger();
    var scheduler = Intercepted.of(Scheduler.class, clock, (method, arguments, call) -> {
      var result = call.pass();
      return result instanceof Scheduler.Timer ? (Scheduler.Timer) () -> false : result;
    });
    var dueTimes = new DueTimes(() -> {
      clockReads.incrementAndGet();
      return Instant.EPOCH.plusNanos(clock.nanoTime());
    }, scheduler, dueKeys::add);
    dueTimes.add("a", Instant.EPOCH.plusSeconds(10));
    dueTimes.close();
    int readsBefore = clockReads.get();

    assertEquals(List.of(), dueKeysAfter(20));

    assertEquals(readsBefore, clockReads.get());
  }

  @Test
  void timerSetDuringCloseIsCancelled() {
    var dueTimes = new AtomicReference<DueTimes>();
    dueTimes.set(new DueTimes(() -> Instant.EPOCH.plusNanos(clock.nanoTime()),
        around(() -> {}, () -> dueTimes.get().close()), dueKeys::add));

    dueTimes.get().add("a", Instant.EPOCH.plusSeconds(10));

    assertEquals(Optional.empty(), clock.untilNext());
  }

  /** Threads that set timers at the same time must leave only the timer of the first entry. */
  @Test
  void concurrentThreadsLoseNoKeyAndLeaveNoTimer() {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("concurrent due times: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    for (int round = 0; round < ROUNDS; round++) addConcurrently(random, "-Dfibry.seed=" + seed);
  }

  private void addConcurrently(Random random, String seed) {
    var start = Instant.EPOCH.plusNanos(clock.nanoTime());
    var foundKeys = new ConcurrentLinkedQueue<String>();
    var dueTimes = new DueTimes(() -> Instant.EPOCH.plusNanos(clock.nanoTime()),
        around(Thread::yield, Thread::yield), foundKeys::add);
    var threads = new ArrayList<Thread>();
    var expectedKeys = new TreeSet<String>();
    for (int thread = 0; thread < 3; thread++) {
      var seconds = random.ints(3, 0, 20).toArray();
      for (int i = 0; i < seconds.length; i++) expectedKeys.add(thread + "-" + i);
      int number = thread;
      threads.add(Patience.startFiber(() -> {
        for (int i = 0; i < seconds.length; i++) dueTimes.add(number + "-" + i, start.plusSeconds(seconds[i]));
      }));
    }
    threads.add(Patience.startFiber(() -> {
      for (int i = 0; i < 5; i++) {
        clock.advance(Duration.ofSeconds(1));
        Thread.yield();
      }
    }));
    threads.forEach(Patience::awaitEnd);

    clock.advance(Duration.ofSeconds(20));

    assertEquals(expectedKeys, new TreeSet<>(foundKeys), seed);
    assertEquals(expectedKeys.size(), foundKeys.size(), seed);
    assertEquals(Optional.empty(), clock.untilNext(), seed);
  }
}
