package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.store.folder.FolderStore;
import io.fibry.support.Child;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that no answered count is lost when a process is killed while many actors count. */
class KillTest {
  private static final int COUNTERS = 20;
  private static final int ANSWERS = Soak.ON ? 3_000 : 1_000; // a kill follows 500 answers plus up to this number
  private static final Duration IDLE = Duration.ofMinutes(5);

  /** Increments the counter; the answer is its new value. */
  record Count() implements Request<Count, Long> {}

  private static final Durable<Count> COUNTER = Durable.kind("counter", Count.class).state(0L)
      .handler((n, count, context) -> {
        context.reply(count, n + 1);
        return n + 1;
      });

  /**
   * Counts until it is killed, or its parent has ended. Prints each answer with the name of its
   * counter.
   */
  static final class CountingProgram {
    public static void main(String[] args) {
      Child.endWithParent();
      try (var store = FolderStore.open(Path.of(args[0]), options -> options.withSegmentBytes(1 << 20));
          var scope = ActorSystem.openScope("counters");
          var counters = COUNTER.entities(scope.anonymous(), store, IDLE);
          var askers = Executors.newVirtualThreadPerTaskExecutor()) {
        for (int i = 0; i < COUNTERS; i++) {
          String key = "c" + i;
          askers.execute(() -> {
            while (true) print(key + " " + counters.actor(key).ask(new Count()));
          });
        }
      }
    }

    private static synchronized void print(String line) {
      System.out.println(line);
    }
  }

  @Test
  void acknowledgedCountsSurviveKillOfProcess(@TempDir Path folder) {
    killRepeatedly(folder, 1);
  }

  @Test
  @Soak(counterpart = "CrashSimulationTest")
  void acknowledgedCountsSurviveManyKillsOfProcess(@TempDir Path folder) {
    killRepeatedly(folder, 60);
  }

  private static void killRepeatedly(Path folder, int rounds) {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("kills: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    long[] lastAnswers = new long[COUNTERS];

    for (int round = 0; round < rounds; round++) {
      run(folder, 500 + random.nextInt(ANSWERS), lastAnswers);

      try (var store = FolderStore.open(folder);
          var scope = ActorSystem.openScope("check");
          var counters = COUNTER.entities(scope.anonymous(), store, IDLE)) {
        for (int i = 0; i < COUNTERS; i++) {
          long value = counters.actor("c" + i).ask(new Count());
          assertTrue(value > lastAnswers[i],
              "counter " + i + " answered " + lastAnswers[i] + ", and then " + value + ", seed " + seed);
          lastAnswers[i] = value;
        }
      }
    }
  }

  /**
   * Runs a process, and kills it after this number of answers. The answers of each counter must be
   * consecutive numbers.
   */
  private static void run(Path folder, int answers, long[] lastAnswers) {
    try (var child = Child.java(List.of(), CountingProgram.class, folder.toString())) {
      Patience.progress(() -> child.lines().size(),
          () -> child.lines().size() >= answers || !child.handle().isAlive());
      assertTrue(child.handle().isAlive(), child::output);
      child.kill();
      child.exitCode(); // waits until all its output has arrived
      var lines = child.lines().stream().filter(line -> line.matches("c\\d+ \\d+")).toList();
      assertTrue(lines.size() >= answers - 1, child::output);
      for (int i = 0; i < lines.size(); i++) {
        var parts = lines.get(i).split(" ");
        int counter = Integer.parseInt(parts[0].substring(1));
        long value = Long.parseLong(parts[1]);
        boolean isCutOff = i == lines.size() - 1 && value != lastAnswers[counter] + 1;
        if (isCutOff) continue;
        assertEquals(lastAnswers[counter] + 1, value, lines.get(i));
        lastAnswers[counter] = value;
      }
    }
  }
}
