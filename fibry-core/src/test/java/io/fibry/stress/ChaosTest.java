package io.fibry.stress;

import io.fibry.Strategy;
import io.fibry.engine.scope.Scopes;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Runs {@link ChaosEpisode} with every strategy, and checks that no thread, timer or scope remains.
 */
class ChaosTest {

  @Promise("19.1")
  @Test
  void chaosLeavesConsistentCountsAndNoLeaks() throws InterruptedException {
    long seed = StressRuns.seed();
    System.out.println("chaos: -Dfibry.seed=" + seed);
    var scopes = new ArrayList<WeakReference<Object>>();

    // a fixed pool would starve: its handlers wait for each other
    try (var pool = Executors.newCachedThreadPool()) {
      var strategies = List.of(Strategy.FIBER, Strategy.THREAD, Strategy.RESIDENT_FIBER, Strategy.of(pool),
          Strategy.CALLER, activation -> Thread.ofPlatform().daemon().start(activation));
      long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Soak.ON ? 60_000 : 2_000);
      while (System.nanoTime() < deadline) scopes.add(runEpisode(seed + scopes.size(), strategies));
    }

    Patience.eventually(() -> countUncollected(scopes) == 0);
    Patience.eventually(
        () -> Thread.getAllStackTraces().keySet().stream().noneMatch(thread -> thread.getName().matches("chaos\\d")));
    System.out.println("chaos: " + scopes.size() + " episodes");
  }

  private static WeakReference<Object> runEpisode(long seed, List<Strategy> strategies) throws InterruptedException {
    try {
      return new ChaosEpisode(new SplittableRandom(seed), strategies).run();
    } catch (AssertionError failure) {
      throw new AssertionError("-Dfibry.seed=" + seed + ": " + failure.getMessage(), failure);
    }
  }

  /**
   * Returns the number of scopes to which a timer, a thread or the root still refers. The last dead
   * letters of the root may refer to scopes too, so they are removed first.
   */
  private static long countUncollected(List<WeakReference<Object>> scopes) {
    Scopes.forgetLettersOfRoot();
    System.gc();
    return scopes.stream().filter(scope -> scope.get() != null).count();
  }
}
