package io.fibry.dashboard;

import com.sun.management.OperatingSystemMXBean;
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
import java.util.function.Consumer;

/**
 * Measures the snapshot that a dashboard takes each second (a tick), the sample that it takes every
 * ten seconds while no page is open, and {@code scope.actors()}:
 * {@code mvn -q -Pdashboard -Dmain=SnapshotCost}. For a million actors it measures only the sample,
 * and the dashboard without a page: the processor time of the process in a minute.
 */
final class SnapshotCost {
  private static final int ACTORS = 10_000;
  private static final int ROUNDS = 60; // as many snapshots as a dashboard takes in a minute
  private static final int MEASURED_ROUNDS = 20; // only the last rounds are measured

  private static final ProcessPauses PAUSES = new ProcessPauses(Scheduler.system());
  private static Optional<ScopeSnapshot> lastSnapshot = Optional.empty(); // used by the main thread only
  private static Object actors; // used by the main thread only

  private SnapshotCost() {}

  public static void main(String[] args) throws Exception {
    for (int busyActors : List.of(0, 1_000)) measure(busyActors);
    for (int idleActors : List.of(10_000, 1_000_000)) measureIdle(idleActors);
  }

  /** Measures samples, and a process with idle actors, with and without a dashboard. */
  private static void measureIdle(int idleActors) throws Exception {
    try (var scope = ActorSystem.openScope("idle")) {
      for (int i = 0; i < idleActors; i++) scope.named("actor-" + i).newActorWithReturn((String text) -> text).ask("x");
      System.out.println(idleActors + " actors that handled a message:");
      report("  a sample      ", () -> sample(scope), 12, 10);
      System.out.printf(Locale.ROOT, "  kept between samples %.1f MB%n", heldBytes(scope, SnapshotCost::sample) / 1e6);
      lastSnapshot = Optional.empty();
      System.out.printf(Locale.ROOT, "  processor time in a minute: %.0f ms without a dashboard", cpuMillisInMinute());
      try (var dashboard = Dashboard.open(scope, 0)) {
        System.out.printf(Locale.ROOT, ", %.0f ms with %s%n", cpuMillisInMinute(), dashboard.uri());
      }
    }
  }

  private static double cpuMillisInMinute() {
    var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    System.gc();
    pause(Duration.ofSeconds(5));
    long before = system.getProcessCpuTime();
    pause(Duration.ofMinutes(1));
    return (system.getProcessCpuTime() - before) / 1e6;
  }

  private static void sample(ActorScope scope) {
    lastSnapshot = Optional.of(ScopeSnapshot.sample(scope, System.nanoTime(), DashboardOptions.DEFAULT, lastSnapshot,
        PAUSES));
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
      report("  scope.actors()", () -> actors = scope.actors(), ROUNDS, MEASURED_ROUNDS);
      report("  a sample      ", () -> sample(scope), ROUNDS, MEASURED_ROUNDS);
      report("  a tick        ", () -> tick(scope), ROUNDS, MEASURED_ROUNDS);
      System.out.printf(Locale.ROOT, "  text %d kB, kept between ticks %.1f MB%n",
          lastSnapshot.orElseThrow().fullJson().length() / 1024,
          heldBytes(scope, SnapshotCost::tick) / 1e6);
      gate.countDown();
    }
    lastSnapshot = Optional.empty();
  }

  private static void tick(ActorScope scope) {
    lastSnapshot = Optional.of(ScopeSnapshot.take(scope, System.nanoTime(), DashboardOptions.DEFAULT, lastSnapshot,
        PAUSES));
  }

  private static long heldBytes(ActorScope scope, Consumer<ActorScope> code) {
    actors = null;
    code.accept(scope);
    long usedWithSnapshot = usedBytes();
    lastSnapshot = Optional.empty();
    long usedWithoutSnapshot = usedBytes();
    code.accept(scope);
    return usedWithSnapshot - usedWithoutSnapshot;
  }

  private static long usedBytes() {
    for (int i = 0; i < 3; i++) System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  private static void report(String name, Runnable code, int rounds, int measuredRounds) {
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    var times = new long[measuredRounds];
    long bytes = 0;
    for (int round = 0; round < rounds; round++) {
      pause(Duration.ofMillis(120)); // busy actors are examined again only after 100 ms
      long allocated = threads.getCurrentThreadAllocatedBytes();
      long begin = threads.getCurrentThreadCpuTime();
      code.run();
      if (round < rounds - measuredRounds) continue;
      times[round - rounds + measuredRounds] = threads.getCurrentThreadCpuTime() - begin;
      bytes += threads.getCurrentThreadAllocatedBytes() - allocated;
    }
    Arrays.sort(times);
    System.out.printf(Locale.ROOT, "%s %.1f ms of processor time (at most %.1f), %.1f MB allocated%n", name,
        times[measuredRounds / 2] / 1e6, times[measuredRounds - 1] / 1e6, bytes / 1e6 / measuredRounds);
  }

  private static void pause(Duration time) {
    try {
      Scheduler.system().sleep(time);
    } catch (InterruptedException impossible) {
      throw new AssertionError(impossible);
    }
  }
}
