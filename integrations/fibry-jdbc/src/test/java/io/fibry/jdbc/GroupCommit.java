package io.fibry.jdbc;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/**
 * How many turns of 1,024 actors a store in Postgres takes, beside programs that commit each row by
 * itself, over one connection and over ten. It takes half a minute, and needs the machine for
 * itself: {@code mvn -pl integrations/fibry-jdbc -am test -Dtest=GroupCommit
 * -Dsurefire.failIfNoSpecifiedTests=false}.
 */
class GroupCommit {
  private static final int ACTORS = 1_024;
  private static final int ROUNDS = 5;
  private static final Duration ROUND = Duration.ofSeconds(2);

  private final byte[] body = new byte[200];
  private final AtomicLong numbers = new AtomicLong(); // of rows that are inserted one by one

  @Test
  void aStoreTakesManyTimesWhatSingleCommitsDo() throws Exception {
    new Random(1).nextBytes(body);
    try (var server = PostgresServer.make();
        var pool = Pools.of(server.newSchema(), 10, 5_000);
        var store = JdbcStore.open(pool)) {
      var seen = new double[3][ROUNDS];
      var lives = new long[ACTORS];
      var last = new long[ACTORS];
      for (int i = 0; i < ACTORS; i++) lives[i] = store.load(id(i)).life();
      for (int round = -1; round < ROUNDS; round++) { // the first one warms up
        double group = turns(ACTORS, actor -> {
          var turn = new Store.Turn(id(actor), lives[actor], ++last[actor], Instant.now(), false, body, List.of(),
              List.of());
          store.append(turn).toCompletableFuture().get();
        });
        double one = turns(1, thread -> insert(pool));
        double ten = turns(10, thread -> insert(pool));
        if (round >= 0) {
          seen[0][round] = group;
          seen[1][round] = group / one;
          seen[2][round] = group / ten;
          System.out.printf("%,.0f turns/s; one connection %,.0f, ten %,.0f%n", group, one, ten);
        }
      }
      System.out.printf("medians: %,.0f turns/s, %.1f times one connection, %.1f times ten%n", median(seen[0]),
          median(seen[1]), median(seen[2]));
      assertTrue(median(seen[1]) >= 15 && median(seen[2]) >= 3, "the budget is 15 times one connection, 3 times ten");
    }
  }

  private static Store.ActorId id(int actor) {
    return new Store.ActorId("account", "a" + actor);
  }

  private void insert(DataSource source) throws SQLException {
    try (Connection connection = source.getConnection();
        var statement = connection.prepareStatement(
            "insert into fibry_turn (kind, actor, number, millis, whole, body) values ('one', 'a', ?, 0, false, ?)")) {
      statement.setLong(1, numbers.incrementAndGet());
      statement.setBytes(2, body);
      statement.executeUpdate();
    }
  }

  private interface Work {
    void run(int thread) throws Exception;
  }

  /** A second, by so many threads. */
  private static double turns(int threads, Work work) throws Exception {
    var done = new AtomicLong();
    long begun = System.nanoTime();
    try (var all = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < threads; i++) {
        int thread = i;
        all.submit(() -> {
          while (System.nanoTime() - begun < ROUND.toNanos()) {
            work.run(thread);
            done.incrementAndGet();
          }
          return null;
        });
      }
    }
    return done.get() * 1e9 / (System.nanoTime() - begun);
  }

  private static double median(double[] all) {
    return Arrays.stream(all).sorted().toArray()[all.length / 2];
  }
}
