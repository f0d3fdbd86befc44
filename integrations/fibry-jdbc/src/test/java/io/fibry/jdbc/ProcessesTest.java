package io.fibry.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.durable.Durable;
import io.fibry.store.StoreException;
import io.fibry.support.Child;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Tests processes that use the same database and are killed. */
class ProcessesTest extends DatabaseFixture {
  private static final int COUNTERS = 10;
  private static final int EXTRA_ANSWERS = Soak.ON ? 1_000 : 300; // a kill follows 200 answers plus at most this number
  private static final Duration IDLE_LIMIT = Duration.ofMinutes(5);

  /** Adds one to a counter. The answer is the new count. */
  record Count() implements Request<Count, Long> {}

  record Counted() {}

  private static final Durable<Count> COUNTER = Durable.kind("counter", Count.class)
      .events(Counted.class, 0L, (Long n, Counted counted) -> n + 1)
      .handler((n, count, context) -> context.reply(count, context.persist(new Counted())));

  /**
   * A process that counts until it is killed or its parent has ended. Prints each answer with the
   * name of its counter.
   */
  static final class CountingMain {
    public static void main(String[] args) {
      Child.endWithParent();
      var database = new PGSimpleDataSource();
      database.setURL(args[0]);
      try (var pool = Pools.of(database);
          var store = JdbcStore.open(pool);
          var scope = ActorSystem.openScope("counters");
          var counters = COUNTER.entities(scope.anonymous(), store, IDLE_LIMIT);
          var askers = Executors.newVirtualThreadPerTaskExecutor()) {
        for (int i = 0; i < COUNTERS; i++) {
          String key = "c" + i;
          askers.execute(() -> {
            while (true) try {
              print(key + " " + counters.actor(key).ask(new Count()));
            } catch (RequestException | StoreException | CancellationException refused) {
              // another process has loaded the counter; the next request loads it again
            }
          });
        }
      }
    }

    private static synchronized void print(String line) {
      System.out.println(line);
    }
  }

  /** A counting process, and the answers that it has printed. */
  private static final class Counter implements AutoCloseable {
    private final Child process;
    private final Map<String, Long> lastAnswers = new HashMap<>(); // by counter
    private int linesRead;

    Counter(PGSimpleDataSource database) {
      process = Child.java(List.of("-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"),
          CountingMain.class, database.getURL() + "&user=postgres");
    }

    /** Waits for the next answers of the process, and returns them. */
    List<String> readAnswers(int answers) {
      Patience.progress(() -> process.lines().size(),
          () -> process.lines().size() >= linesRead + answers || !process.handle().isAlive());
      var lines = process.lines();
      assertTrue(lines.size() >= linesRead + answers, process::output);
      var newLines = lines.subList(linesRead, linesRead + answers);
      linesRead += answers;
      newLines.forEach(this::record);
      return newLines;
    }

    private void record(String line) {
      var parts = line.split(" ");
      Long previous = lastAnswers.put(parts[0], Long.valueOf(parts[1]));
      assertTrue(previous == null || previous < lastAnswers.get(parts[0]), line + " after " + previous);
    }

    /** Kills the process, and returns its remaining answers. */
    List<String> kill() {
      process.kill();
      process.exitCode(); // returns after all output has arrived
      var allLines = process.lines();
      var lines = allLines.subList(linesRead, allLines.size()).stream()
          .filter(line -> line.matches("c\\d+ \\d+")).toList();
      return lines.isEmpty() ? lines : lines.subList(0, lines.size() - 1); // the last line may be cut off
    }

    @Override
    public void close() {
      process.close();
    }
  }

  private static String seedOption(long seed) {
    return "-Dfibry.seed=" + seed;
  }

  ProcessesTest() {
    super(DatabaseFixture::postgres);
  }

  private Counter start() {
    return new Counter((PGSimpleDataSource) database);
  }

  /** Asks each counter once, and returns the answers by counter. */
  private Map<String, Long> askAllCounters() {
    var answers = new HashMap<String, Long>();
    try (var store = JdbcStore.open(pool);
        var scope = ActorSystem.openScope("check");
        var counters = COUNTER.entities(scope.anonymous(), store, IDLE_LIMIT)) {
      for (int i = 0; i < COUNTERS; i++) answers.put("c" + i, counters.actor("c" + i).ask(new Count()));
    }
    return answers;
  }

  @Test
  void acknowledgedCountsSurviveKillOfProcess() {
    killRepeatedly(1);
  }

  @Test
  @Soak(counterpart = "FaultsInPostgresTest.turnIsStoredWhenConnectionIsLostAfterCommit")
  void acknowledgedCountsSurviveManyKillsOfProcess() {
    killRepeatedly(30);
  }

  private void killRepeatedly(int rounds) {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("kills: " + seedOption(seed));
    var random = new Random(seed);
    for (int round = 0; round < rounds; round++) try (var child = start()) {
      child.readAnswers(200 + random.nextInt(EXTRA_ANSWERS));
      child.kill().forEach(child::record);

      var finalCounts = askAllCounters();

      child.lastAnswers.forEach((counter, answer) -> assertTrue(finalCounts.get(counter) > answer,
          counter + " answered " + answer + ", and now " + finalCounts.get(counter) + ", " + seedOption(seed)));
    }
  }

  @Test
  void processesThatShareActorsNeverGiveSameAnswerTwice() {
    var lines = new ArrayList<String>();
    try (var processA = start(); var processB = start()) {
      for (int i = 0; i < 5; i++) {
        lines.addAll(processA.readAnswers(20));
        lines.addAll(processB.readAnswers(20));
      }
      lines.addAll(processA.kill());
      lines.addAll(processB.readAnswers(200)); // now the only process with the counters
      lines.addAll(processB.kill());
    }

    var finalCounts = askAllCounters();

    assertEquals(lines.size(), lines.stream().distinct().count());
    for (var line : lines) {
      var parts = line.split(" ");
      assertTrue(Long.parseLong(parts[1]) < finalCounts.get(parts[0]), line + ", and now " + finalCounts.get(parts[0]));
    }
  }
}
