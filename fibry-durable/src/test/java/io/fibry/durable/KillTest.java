package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.store.folder.FolderStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process is killed while many actors count, again and again. */
class KillTest {
  private static final int ROUNDS = Boolean.getBoolean("fibry.soak") ? 60 : 5;
  private static final int COUNTERS = 20;
  private static final Duration IDLE = Duration.ofMinutes(5);

  /** Answers how often it was asked. */
  record Count() implements Request<Count, Long> {}

  private static final Durable<Count> COUNTER = Durable.kind("counter", Count.class).state(0L)
      .by((n, count, context) -> {
        context.reply(count, n + 1);
        return n + 1;
      });

  /** Counts for ever, and prints each answer: which counter, and what it says. */
  static final class Counting {
    public static void main(String[] args) {
      try (var store = FolderStore.open(Path.of(args[0]), options -> options.withSegment(1 << 20));
          var scope = ActorSystem.openScope("counters");
          var counters = COUNTER.entities(scope.anonymous(), store, IDLE);
          var askers = Executors.newVirtualThreadPerTaskExecutor()) {
        for (int i = 0; i < COUNTERS; i++) {
          String key = "c" + i;
          askers.execute(() -> {
            while (true) tell(key + " " + counters.actor(key).ask(new Count()));
          });
        }
      }
    }

    private static synchronized void tell(String line) {
      System.out.println(line);
    }
  }

  @Test
  void whatWasAnsweredIsThere(@TempDir Path folder) throws Exception {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("kills: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    long[] told = new long[COUNTERS];

    for (int round = 0; round < ROUNDS; round++) {
      run(folder, 500 + random.nextInt(3_000), told);

      try (var store = FolderStore.open(folder);
          var scope = ActorSystem.openScope("check");
          var counters = COUNTER.entities(scope.anonymous(), store, IDLE)) {
        for (int i = 0; i < COUNTERS; i++) {
          long now = counters.actor("c" + i).ask(new Count());
          assertTrue(now > told[i], "counter " + i + " said " + told[i] + ", and now " + now + ", seed " + seed);
          told[i] = now;
        }
      }
    }
  }

  /** Kills it after so many answers; those of a counter come in their order. */
  private static void run(Path folder, int answers, long[] told) throws Exception {
    var command = new ArrayList<>(List.of(ProcessHandle.current().info().command().orElseThrow(), "-cp",
        System.getProperty("java.class.path"), Counting.class.getName(), folder.toString()));
    var process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try (var out = process.inputReader()) {
      for (int i = 0; i < answers; i++) {
        var parts = out.readLine().split(" ");
        int counter = Integer.parseInt(parts[0].substring(1));
        long value = Long.parseLong(parts[1]);
        assertEquals(told[counter] + 1, value);
        told[counter] = value;
      }
      process.toHandle().destroyForcibly();
      process.waitFor();
      // what it told before it died
      for (var line = out.readLine(); line != null; line = out.readLine()) {
        var parts = line.split(" ");
        if (parts.length == 2) told[Integer.parseInt(parts[0].substring(1))] = Long.parseLong(parts[1]);
      }
    }
  }
}
