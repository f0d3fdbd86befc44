package io.fibry.jdbc;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.durable.Durable;
import io.fibry.store.StoreException;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.Test;

/** A database is killed while many actors count, again and again. The store recovers by itself. */
class KillPostgresTest {
  private static final int COUNTERS = 20;
  private static final Duration IDLE = Duration.ofMinutes(5);

  /** The answer is how often it was asked. */
  record Count() implements Request<Count, Long> {}

  private static final Durable<Count> COUNTER = Durable.kind("counter", Count.class).state(0L)
      .handler((n, count, context) -> {
        context.reply(count, n + 1);
        return n + 1;
      });

  @Test
  void answersSurviveKill() throws Exception {
    killAgainAndAgain(1);
  }

  @Test
  @Soak(counterpart = "FaultsInPostgresTest.aStoreGoesOnWhenTheDatabaseIsBack")
  void answersSurviveManyKills() throws Exception {
    killAgainAndAgain(30);
  }

  private static void killAgainAndAgain(int rounds) throws Exception {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("kills: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    var told = new AtomicLongArray(COUNTERS);
    // the machine stays up, so the database's writes need no force
    try (var server = PostgresServer.make("fsync=off");
        var pool = Pools.of(server.newSchema(), 5, 300);
        var store = FaultContract.patiently(() -> JdbcStore.open(pool));
        var scope = ActorSystem.openScope("counters");
        var counters = COUNTER.entities(scope.anonymous(), store, IDLE)) {
      for (int round = 0; round < rounds; round++) {
        var answers = new CountDownLatch(200 + random.nextInt(1_000));
        var killed = new AtomicBoolean();
        try (var askers = Executors.newVirtualThreadPerTaskExecutor()) {
          for (int i = 0; i < COUNTERS; i++) {
            int counter = i;
            askers.execute(() -> {
              while (!killed.get()) if (isTold(told, counter, counters.actor("c" + counter)::ask)) answers.countDown();
            });
          }
          try {
            Patience.await(answers);
            server.kill();
          } finally {
            killed.set(true);
          }
        }
        server.start();
        for (int i = 0; i < COUNTERS; i++) {
          int counter = i;
          long before = told.get(i);
          Patience.eventually(() -> isTold(told, counter, counters.actor("c" + counter)::ask));
          assertTrue(told.get(i) > before,
              "counter " + i + " said " + before + ", and now " + told.get(i) + ", seed " + seed);
        }
      }
    }
  }

  private interface Asking {
    long ask(Count count);
  }

  /** Returns false if the database is down. */
  private static boolean isTold(AtomicLongArray told, int counter, Asking asking) {
    try {
      told.set(counter, asking.ask(new Count()));
      return true;
    } catch (RequestException | StoreException | CancellationException away) {
      return false;
    }
  }
}
