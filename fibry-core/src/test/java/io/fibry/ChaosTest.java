package io.fibry;

import io.fibry.engine.scope.Scopes;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Everything at once, on every strategy: see {@link ChaosEpisode}. No thread, timer or memory is
 * left behind.
 */
class ChaosTest {

  @Promise("19.1")
  @Test
  void chaosLeavesConsistentCountsAndNoLeaks() throws InterruptedException {
    long seed = StressHarness.seed();
    System.out.println("chaos: -Dfibry.seed=" + seed);
    var scopes = new ArrayList<WeakReference<Object>>();

    // a fixed pool would starve: its handlers wait for each other
    try (var pool = Executors.newCachedThreadPool()) {
      var strategies = List.of(Strategy.FIBER, Strategy.THREAD, Strategy.RESIDENT_FIBER, Strategy.of(pool),
          Strategy.CALLER, activation -> Thread.ofPlatform().daemon().start(activation));
      long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Soak.ON ? 60_000 : 2_000);
      while (System.nanoTime() < end) scopes.add(play(seed + scopes.size(), strategies));
    }

    Patience.eventually(() -> kept(scopes) == 0);
    Patience.eventually(
        () -> Thread.getAllStackTraces().keySet().stream().noneMatch(thread -> thread.getName().matches("chaos\\d")));
    System.out.println("chaos: " + scopes.size() + " episodes");
  }

  private static WeakReference<Object> play(long seed, List<Strategy> strategies) throws InterruptedException {
    try {
      return new ChaosEpisode(new SplittableRandom(seed), strategies).play();
    } catch (AssertionError fault) {
      throw new AssertionError("-Dfibry.seed=" + seed + ": " + fault.getMessage(), fault);
    }
  }

  /**
   * A timer, a thread or the root would keep a scope. The root's last dead letters do, so they are
   * removed.
   */
  private static long kept(List<WeakReference<Object>> scopes) {
    Scopes.forgetLettersOfRoot();
    System.gc();
    return scopes.stream().filter(scope -> scope.get() != null).count();
  }
}
