package io.fibry.stress;

import io.fibry.Strategy;
import io.fibry.testing.StressRuns;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Plays stress rounds with every strategy and mailbox. Some tests run its main method in a child
 * JVM.
 */
public final class StressHarness implements AutoCloseable {
  private final ExecutorService pool = Executors.newFixedThreadPool(2, Thread.ofPlatform().daemon().factory());
  private final List<Strategy> strategies = List.of(
      Strategy.FIBER, Strategy.THREAD, Strategy.RESIDENT_FIBER, Strategy.of(pool), Strategy.CALLER,
      activation -> Thread.ofPlatform().daemon().start(activation));
  private final long seed;

  StressHarness(long seed) {
    this.seed = seed;
    System.out.println("stress: -Dfibry.seed=" + seed);
  }

  /**
   * Plays all combinations of strategy and mailbox again and again, and returns the number of
   * rounds.
   */
  int play(long millis) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    int rounds = 0;
    var combinations = combinations();
    while (rounds < combinations.size() || System.nanoTime() < end) {
      var random = new SplittableRandom(seed + rounds);
      combinations.get(rounds++ % combinations.size()).play(random, rounds, seed);
    }
    return rounds;
  }

  private List<Combination> combinations() {
    var result = new ArrayList<Combination>();
    for (var strategy : strategies) for (var mailboxKind : StressRound.MailboxKind.values())
      result.add(new Combination(strategy, mailboxKind));
    return result;
  }

  private record Combination(Strategy strategy, StressRound.MailboxKind mailboxKind) {
    void play(SplittableRandom random, int number, long seed) throws InterruptedException {
      try {
        new StressRound(random, strategy, mailboxKind).play();
      } catch (Throwable failure) {
        throw new AssertionError(
            "round " + number + " on " + strategy + ", -Dfibry.seed=" + seed + ": " + failure.getMessage(), failure);
      }
    }
  }

  @Override
  public void close() {
    pool.shutdownNow();
  }

  /** Plays rounds for the number of milliseconds in the first argument. */
  public static void main(String[] args) throws InterruptedException {
    try (var harness = new StressHarness(StressRuns.seed())) {
      System.out.println("rounds: " + harness.play(Long.parseLong(args[0])));
    }
  }
}
