package io.fibry;

import io.fibry.support.Soak;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Rounds of stress over every strategy and mailbox. Has a main method for child JVMs. */
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

  /** The seed of this run: the given one, or a new one. */
  public static long seed() {
    return Long.getLong("fibry.seed", System.nanoTime());
  }

  /** How long a test may stress: little by default, minutes in a soak. */
  public static long millis(long usual) {
    return Soak.ON ? TimeUnit.MINUTES.toMillis(3) : usual;
  }

  /** Plays all combinations repeatedly; returns the number of rounds. */
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
    var all = new ArrayList<Combination>();
    for (var strategy : strategies) for (var box : StressRound.Box.values()) all.add(new Combination(strategy, box));
    return all;
  }

  private record Combination(Strategy strategy, StressRound.Box box) {
    void play(SplittableRandom random, int number, long seed) throws InterruptedException {
      try {
        new StressRound(random, strategy, box).play();
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

  /** For a child JVM: stresses for the given milliseconds. */
  public static void main(String[] args) throws InterruptedException {
    try (var harness = new StressHarness(seed())) {
      System.out.println("rounds: " + harness.play(Long.parseLong(args[0])));
    }
  }
}
