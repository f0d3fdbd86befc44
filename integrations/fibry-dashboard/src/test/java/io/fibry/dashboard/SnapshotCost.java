package io.fibry.dashboard;

import com.sun.management.ThreadMXBean;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.time.Scheduler;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

/**
 * Measures the snapshot that a dashboard takes each second (a tick), and {@code scope.actors()}:
 * {@code mvn -q -Pdashboard -Dmain=SnapshotCost}.
 */
final class SnapshotCost {
  private static final int ACTORS = 10_000;
  private static final int ROUNDS = 60; // as many snapshots as a dashboard takes in a minute
  private static final int MEASURED_ROUNDS = 20; // only the last rounds are measured

  private static Optional<ScopeSnapshot> lastSnapshot = Optional.empty(); // used by the main thread only
  private static Object actors; // used by the main thread only

  private SnapshotCost() {}

  public static void main(String[] args) throws Exception {
    for (int busyActors : List.of(0, 1_000)) measure(busyActors);
  }

  private static void measure(int busyActors) throws Exception {
    var gate = new CountDownLatch(1);
    try (var scope = ActorSystem.openScope("cost")) {
      var testActors = new ArrayList<ActorWithReturn<String, Integer>>();
      for (int i = 0; i < ACTORS; i++) testActors.add(scope.named("actor-" + i).newActorWithReturn((String text) -> {
        if (text.isEmpty()) gate.await();
        return text.length();
      }));
      for (var actor : testActors) actor.ask("x");
      for (int i = 0; i < busyActors; i++) testActors.get(i).sendMessage("");
      System.out.println(ACTORS + " actors, " + busyActors + " of them busy:");
      report("  scope.actors()", () -> actors = scope.actors());
      report("  a tick        ", () -> tick(scope));
      System.out.printf(Locale.ROOT, "  text %d kB, kept between ticks %.1f MB%n",
          lastSnapshot.orElseThrow().fullJson().length() / 1024,
          heldBytes(scope) / 1e6);
      gate.countDown();
    }
    lastSnapshot = Optional.empty();
  }

  private static void tick(ActorScope scope) {
    lastSnapshot = Optional.of(ScopeSnapshot.take(scope, System.nanoTime(), DashboardOptions.DEFAULT, lastSnapshot));
  }

  private static long heldBytes(ActorScope scope) {
    actors = null;
    tick(scope);
    long usedWithSnapshot = usedBytes();
    lastSnapshot = Optional.empty();
    long usedWithoutSnapshot = usedBytes();
    tick(scope);
    return usedWithSnapshot - usedWithoutSnapshot;
  }

  private static long usedBytes() {
    for (int i = 0; i < 3; i++) System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  private static void report(String name, Runnable code) {
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    var times = new long[MEASURED_ROUNDS];
    long bytes = 0;
    for (int round = 0; round < ROUNDS; round++) {
      pause(Duration.ofMillis(120)); // busy actors are examined again only after 100 ms
      long allocated = threads.getCurrentThreadAllocatedBytes();
      long begin = System.nanoTime();
      code.run();
      if (round < ROUNDS - MEASURED_ROUNDS) continue;
      times[round - ROUNDS + MEASURED_ROUNDS] = System.nanoTime() - begin;
      bytes += threads.getCurrentThreadAllocatedBytes() - allocated;
    }
    Arrays.sort(times);
    System.out.printf(Locale.ROOT, "%s %.1f ms (at most %.1f), %.1f MB allocated%n", name,
        times[MEASURED_ROUNDS / 2] / 1e6, times[MEASURED_ROUNDS - 1] / 1e6, bytes / 1e6 / MEASURED_ROUNDS);
  }

  private static void pause(Duration time) {
    var clock = Scheduler.system();
    try {
      clock.sleepUntil(clock.nanoTime() + time.toNanos());
    } catch (InterruptedException impossible) {
      throw new AssertionError(impossible);
    }
  }
}
