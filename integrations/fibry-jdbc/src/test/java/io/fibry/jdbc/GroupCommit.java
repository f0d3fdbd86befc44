package io.fibry.jdbc;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/**
 * Measures how many turns per second a store in Postgres takes from 1,024 actors. Compares this
 * rate with programs that commit each row by itself, over one connection and over ten. The
 * measurement takes half a minute, and needs the machine for itself:
 * {@code mvn -pl integrations/fibry-jdbc -am test -Dtest=GroupCommit
 * -Dsurefire.failIfNoSpecifiedTests=false}.
 */
class GroupCommit {
  private static final int ACTORS = 1_024;
  private static final int ROUNDS = 5;
  private static final Duration ROUND_DURATION = Duration.ofSeconds(2);

  private final byte[] body = new byte[200];
  private final AtomicLong rowNumbers = new AtomicLong(); // of rows that are inserted one by one

  @Test
  void groupCommitIsFasterThanSingleCommits() throws Exception {
    new Random(1).nextBytes(body);
    try (var server = PostgresServer.make();
        var pool = Pools.of(server.newSchema(), 10, 5_000);
        var store = StoreBackend.of(JdbcStore.open(pool))) {
      var results = new double[3][ROUNDS];
      var lives = new long[ACTORS];
      var lastTurns = new long[ACTORS];
      for (int i = 0; i < ACTORS; i++) lives[i] = store.load(id(i)).life();
      for (int round = -1; round < ROUNDS; round++) { // the first round warms up
        double storeRate = runsPerSecond(ACTORS, actor -> {
          var turn =
              new StoreBackend.Turn(id(actor), lives[actor], ++lastTurns[actor], Instant.now(), false, body, List.of(),
                  List.of());
          store.append(turn).toCompletableFuture().get();
        });
        double oneConnectionRate = runsPerSecond(1, thread -> insert(pool));
        double tenConnectionsRate = runsPerSecond(10, thread -> insert(pool));
        if (round >= 0) {
          results[0][round] = storeRate;
          results[1][round] = storeRate / oneConnectionRate;
          results[2][round] = storeRate / tenConnectionsRate;
          System.out.printf("%,.0f turns/s; one connection %,.0f, ten %,.0f%n", storeRate, oneConnectionRate,
              tenConnectionsRate);
        }
      }
      System.out.printf("medians: %,.0f turns/s, %.1f times one connection, %.1f times ten%n", median(results[0]),
          median(results[1]), median(results[2]));
      assertTrue(median(results[1]) >= 15 && median(results[2]) >= 3,
          "the store must be 15 times as fast as one connection, and 3 times as fast as ten");
    }
  }

  private static Store.ActorId id(int actor) {
    return new Store.ActorId("account", "a" + actor);
  }

  private void insert(DataSource source) throws SQLException {
    try (Connection connection = source.getConnection();
        var statement = connection.prepareStatement(
            "insert into fibry_turn (kind, actor, number, millis, whole, body) values ('one', 'a', ?, 0, false, ?)")) {
      statement.setLong(1, rowNumbers.incrementAndGet());
      statement.setBytes(2, body);
      statement.executeUpdate();
    }
  }

  private interface Work {
    void run(int thread) throws Exception;
  }

  /** Repeats the work on each thread during a round. Returns the number of runs in a second. */
  private static double runsPerSecond(int threads, Work work) throws Exception {
    var runs = new AtomicLong();
    long start = System.nanoTime();
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      var loops = new ArrayList<Callable<Void>>();
      for (int i = 0; i < threads; i++) {
        int thread = i;
        loops.add(() -> {
          while (System.nanoTime() - start < ROUND_DURATION.toNanos()) {
            work.run(thread);
            runs.incrementAndGet();
          }
          return null;
        });
      }
      for (var loop : executor.invokeAll(loops)) loop.get(); // a failure must not lower the rate unnoticed
    }
    return runs.get() * 1e9 / (System.nanoTime() - start);
  }

  private static double median(double[] values) {
    return Arrays.stream(values).sorted().toArray()[values.length / 2];
  }
}
