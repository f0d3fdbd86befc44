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

/** What a tick costs, beside {@code scope.actors()}: {@code mvn -q -Pdashboard -Dmain=Cost}. */
final class Cost {
  private static final int ACTORS = 10_000;
  private static final int ROUNDS = 60; // each a second in real life
  private static final int COUNTED = 20; // the last

  private static Optional<ScopeSnapshot> last = Optional.empty(); // of the main thread alone
  private static Object kept; // likewise

  private Cost() {}

  public static void main(String[] args) throws Exception {
    for (int busy : List.of(0, 1_000)) measure(busy);
  }

  private static void measure(int busy) throws Exception {
    var opened = new CountDownLatch(1);
    try (var scope = ActorSystem.openScope("cost")) {
      var all = new ArrayList<ActorWithReturn<String, Integer>>();
      for (int i = 0; i < ACTORS; i++) all.add(scope.named("actor-" + i).newActorWithReturn((String text) -> {
        if (text.isEmpty()) opened.await();
        return text.length();
      }));
      for (var actor : all) actor.ask("x");
      for (int i = 0; i < busy; i++) all.get(i).sendMessage("");
      System.out.println(ACTORS + " actors, " + busy + " of them busy:");
      report("  scope.actors()", () -> kept = scope.actors());
      report("  a tick        ", () -> tick(scope));
      System.out.printf(Locale.ROOT, "  text %d kB, kept between ticks %.1f MB%n",
          last.orElseThrow().fullJson().length() / 1024,
          held(scope) / 1e6);
      opened.countDown();
    }
    last = Optional.empty();
  }

  private static void tick(ActorScope scope) {
    last = Optional.of(ScopeSnapshot.take(scope, System.nanoTime(), false, last));
  }

  private static long held(ActorScope scope) {
    kept = null;
    tick(scope);
    long with = used();
    last = Optional.empty();
    long without = used();
    tick(scope);
    return with - without;
  }

  private static long used() {
    for (int i = 0; i < 3; i++) System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  private static void report(String name, Runnable code) {
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    var times = new long[COUNTED];
    long bytes = 0;
    for (int round = 0; round < ROUNDS; round++) {
      pause(Duration.ofMillis(120)); // after 100 ms, busy actors are examined again
      long allocated = threads.getCurrentThreadAllocatedBytes();
      long began = System.nanoTime();
      code.run();
      if (round < ROUNDS - COUNTED) continue;
      times[round - ROUNDS + COUNTED] = System.nanoTime() - began;
      bytes += threads.getCurrentThreadAllocatedBytes() - allocated;
    }
    Arrays.sort(times);
    System.out.printf(Locale.ROOT, "%s %.1f ms (at most %.1f), %.1f MB allocated%n", name, times[COUNTED / 2] / 1e6,
        times[COUNTED - 1] / 1e6, bytes / 1e6 / COUNTED);
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
