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
import java.io.IOException;
import java.io.UncheckedIOException;
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

/** Processes that have one database open, and are killed. */
class ProcessesTest extends DatabaseFixture {
  private static final int COUNTERS = 10;
  private static final int MORE = Soak.ON ? 1_000 : 300; // answers before a kill
  private static final Duration IDLE = Duration.ofMinutes(5);

  /** The answer is how often it was asked. */
  record Count() implements Request<Count, Long> {}

  record Counted() {}

  private static final Durable<Count> COUNTER = Durable.kind("counter", Count.class)
      .events(Counted.class, 0L, (Long n, Counted counted) -> n + 1)
      .handler((n, count, context) -> context.reply(count, context.persist(new Counted())));

  /**
   * Counts until it is killed, or its parent has ended. Prints each answer with the name of its
   * counter.
   */
  static final class Counting {
    public static void main(String[] args) {
      Thread.ofPlatform().daemon().start(Counting::endWithParent);
      var database = new PGSimpleDataSource();
      database.setURL(args[0]);
      try (var pool = Pools.of(database);
          var store = JdbcStore.open(pool);
          var scope = ActorSystem.openScope("counters");
          var counters = COUNTER.entities(scope.anonymous(), store, IDLE);
          var askers = Executors.newVirtualThreadPerTaskExecutor()) {
        for (int i = 0; i < COUNTERS; i++) {
          String key = "c" + i;
          askers.execute(() -> {
            while (true) try {
              tell(key + " " + counters.actor(key).ask(new Count()));
            } catch (RequestException | StoreException | CancellationException refused) {
              // another process has read it; it is read again
            }
          });
        }
      }
    }

    private static void endWithParent() {
      try {
        System.in.read();
      } catch (IOException failure) {
        throw new UncheckedIOException(failure);
      }
      Runtime.getRuntime().halt(1);
    }

    private static synchronized void tell(String line) {
      System.out.println(line);
    }
  }

  /** A process, and what it has told. */
  private static final class Counter implements AutoCloseable {
    private final Child process;
    private final Map<String, Long> told = new HashMap<>(); // by counter, the last
    private int read; // lines

    Counter(PGSimpleDataSource database) {
      process = Child.java(List.of("-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"),
          Counting.class, database.getURL() + "&user=postgres");
    }

    /** Its next answers. */
    List<String> read(int answers) {
      Patience.progress(() -> process.lines().size(),
          () -> process.lines().size() >= read + answers || !process.handle().isAlive());
      var lines = process.lines();
      assertTrue(lines.size() >= read + answers, process::output);
      var next = lines.subList(read, read + answers);
      read += answers;
      next.forEach(this::told);
      return next;
    }

    private void told(String line) {
      var parts = line.split(" ");
      Long before = told.put(parts[0], Long.valueOf(parts[1]));
      assertTrue(before == null || before < told.get(parts[0]), line + " after " + before);
    }

    /** Kills the process, and returns its other output. */
    List<String> kill() {
      process.kill();
      process.exitCode(); // all that it told has come
      var rest = process.lines();
      var lines = rest.subList(read, rest.size()).stream().filter(line -> line.matches("c\\d+ \\d+")).toList();
      return lines.isEmpty() ? lines : lines.subList(0, lines.size() - 1); // the last one may be cut off
    }

    @Override
    public void close() {
      process.close();
    }
  }

  private static String seeded(long seed) {
    return "-Dfibry.seed=" + seed;
  }

  ProcessesTest() {
    super(DatabaseFixture::postgres);
  }

  private Counter start() {
    return new Counter((PGSimpleDataSource) database);
  }

  /** Asks one counter after the other, and returns the answers. */
  private Map<String, Long> count() {
    var all = new HashMap<String, Long>();
    try (var store = JdbcStore.open(pool);
        var scope = ActorSystem.openScope("check");
        var counters = COUNTER.entities(scope.anonymous(), store, IDLE)) {
      for (int i = 0; i < COUNTERS; i++) all.put("c" + i, counters.actor("c" + i).ask(new Count()));
    }
    return all;
  }

  @Test
  void answersSurviveKill() {
    killAgainAndAgain(1);
  }

  @Test
  @Soak(counterpart = "FaultsInPostgresTest.turnIsStoredWhenConnectionIsLostAfterCommit")
  void answersSurviveManyKills() {
    killAgainAndAgain(30);
  }

  private void killAgainAndAgain(int rounds) {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("kills: " + seeded(seed));
    var random = new Random(seed);
    for (int round = 0; round < rounds; round++) try (var child = start()) {
      child.read(200 + random.nextInt(MORE));
      child.kill().forEach(child::told);

      var now = count();

      child.told.forEach((counter, before) -> assertTrue(now.get(counter) > before,
          counter + " said " + before + ", and now " + now.get(counter) + ", " + seeded(seed)));
    }
  }

  @Test
  void processesSharingActorsAnswerNothingTwice() {
    var told = new ArrayList<String>();
    try (var one = start(); var other = start()) {
      for (int i = 0; i < 5; i++) {
        told.addAll(one.read(20));
        told.addAll(other.read(20));
      }
      told.addAll(one.kill());
      told.addAll(other.read(200)); // it has them for itself now
      told.addAll(other.kill());
    }

    var now = count();

    assertEquals(told.size(), told.stream().distinct().count());
    for (var line : told) {
      var parts = line.split(" ");
      assertTrue(Long.parseLong(parts[1]) < now.get(parts[0]), line + ", and now " + now.get(parts[0]));
    }
  }
}
