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

/** Tests that a store recovers when its database is killed repeatedly while many actors count. */
class KillPostgresTest {
  private static final int COUNTER_COUNT = 20;
  private static final Duration IDLE_LIMIT = Duration.ofMinutes(5);

  /** Adds one to a counter. The answer is the new count. */
  record Count() implements Request<Count, Long> {}

  private static final Durable<Count> COUNTER = Durable.kind("counter", Count.class).state(0L)
      .handler((n, count, context) -> {
        context.reply(count, n + 1);
        return n + 1;
      });

  @Test
  void acknowledgedCountsSurviveKillOfDatabase() throws Exception {
    killRepeatedly(1);
  }

  @Test
  @Soak(counterpart = "FaultsInPostgresTest.storeContinuesWhenDatabaseReturns")
  void acknowledgedCountsSurviveManyKillsOfDatabase() throws Exception {
    killRepeatedly(30);
  }

  private static void killRepeatedly(int rounds) throws Exception {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("kills: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    var lastAnswers = new AtomicLongArray(COUNTER_COUNT);
    // the machine does not crash, so the database need not sync its files
    try (var server = PostgresServer.make("fsync=off");
        var pool = Pools.of(server.newSchema(), 5, 300);
        var store = FaultContract.patiently(() -> JdbcStore.open(pool));
        var scope = ActorSystem.openScope("counters");
        var counters = COUNTER.entities(scope.anonymous(), store, IDLE_LIMIT)) {
      for (int round = 0; round < rounds; round++) {
        var answers = new CountDownLatch(200 + random.nextInt(1_000));
        var isKilled = new AtomicBoolean();
        try (var askers = Executors.newVirtualThreadPerTaskExecutor()) {
          for (int i = 0; i < COUNTER_COUNT; i++) {
            int counter = i;
            askers.execute(() -> {
              while (!isKilled.get())
                if (askAndRecord(lastAnswers, counter, counters.actor("c" + counter)::ask)) answers.countDown();
            });
          }
          try {
            Patience.await(answers);
            server.kill();
          } finally {
            isKilled.set(true);
          }
        }
        server.start();
        for (int i = 0; i < COUNTER_COUNT; i++) {
          int counter = i;
          long answerBeforeKill = lastAnswers.get(i);
          Patience.eventually(() -> askAndRecord(lastAnswers, counter, counters.actor("c" + counter)::ask));
          assertTrue(lastAnswers.get(i) > answerBeforeKill,
              "counter " + i + " answered " + answerBeforeKill + ", and now " + lastAnswers.get(i) + ", seed " + seed);
        }
      }
    }
  }

  private interface Asker {
    long ask(Count count);
  }

  /** Asks the counter and records its answer. Returns false if the database is down. */
  private static boolean askAndRecord(AtomicLongArray lastAnswers, int counter, Asker asker) {
    try {
      lastAnswers.set(counter, asker.ask(new Count()));
      return true;
    } catch (RequestException | StoreException | CancellationException refused) {
      return false;
    }
  }
}
