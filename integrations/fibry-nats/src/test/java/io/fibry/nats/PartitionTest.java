package io.fibry.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.RemoteFailureException;
import io.fibry.durable.Durable;
import io.fibry.durable.Idempotent;
import io.fibry.pool.Entities;
import io.fibry.support.FaultProxy;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests a node that is cut off from its server, in both directions or in one. */
@Soak(counterpart = "ClusterSimulationTest")
@ExtendWith(ServerEvidence.class)
class PartitionTest {
  record Add(String idempotencyKey) implements Request<Add, Long>, Idempotent {}

  private static final int KEYS = 20;
  private static final Duration LEASE = Duration.ofSeconds(20); // long enough for a busy machine
  private static final Duration LIMIT = Duration.ofSeconds(2);
  private static final Durable<Add> COUNTER =
      Durable.kind("counter", Add.class).state(0L).handler((count, add, context) -> {
        context.reply(add, count + 1);
        return count + 1;
      });

  private final String app = Servers.app();
  private final ActorScope scope = ActorSystem.openScope("partition-test");
  private final AtomicBoolean stop = new AtomicBoolean();

  @AfterEach
  void close() {
    scope.close();
  }

  private Cluster join(String node, String url) {
    return Cluster.join(app,
        NatsNetwork.connectTo(url).withOptions(options -> options.pingInterval(Duration.ofSeconds(1))),
        options -> options.withNode(node).withLease(LEASE).withPartitions(16).withScope(scope));
  }

  private static boolean isAnswered(Entities<String, Add> counters, int key, String idempotencyKey) {
    try {
      counters.actor("k" + key).ask(new Add(idempotencyKey), LIMIT);
      return true;
    } catch (RequestException | CancellationException | RemoteFailureException failure) {
      return false;
    }
  }

  /**
   * Returns an asker that counts its answers, and checks that each answer is the previous answer
   * plus one.
   */
  private Callable<Long> newAsker(Entities<String, Add> counters, int asker) {
    return () -> {
      long lastAnswer = 0;
      for (int i = 0; !stop.get(); i++) {
        var add = new Add(asker + "-" + i);
        long expected = ++lastAnswer;
        Patience.eventually("asker " + asker + " gets no answer", () -> {
          try {
            assertEquals(expected, counters.actor("own" + asker).ask(add, LIMIT));
            return true;
          } catch (RequestException | CancellationException | RemoteFailureException failure) {
            return false;
          }
        });
      }
      return lastAnswer;
    };
  }

  @ParameterizedTest
  @EnumSource(value = FaultProxy.Mode.class, names = {"DROP", "DROP_ANSWERS", "HOLD"})
  void cutOffNodeStopsAnsweringUntilItRejoins(FaultProxy.Mode fault) throws Exception {
    String url = Servers.shared().url();
    try (var proxy = FaultProxy.to(url);
        var a = join("a", url);
        var client = join("asking", url);
        var b = join("b", proxy.natsUrl());
        var askers = Executors.newVirtualThreadPerTaskExecutor()) {
      a.host(COUNTER, scope.anonymous(), Duration.ofMinutes(5));
      var countersOfB = b.host(COUNTER, scope.anonymous(), Duration.ofMinutes(5));
      var counters = client.entities(COUNTER);
      Patience.eventually(() -> b.health().partitions().getOrDefault("counter", 0) > 2);
      var results = IntStream.range(0, 4).mapToObj(i -> askers.submit(newAsker(counters, i))).toList();
      try {
        for (int i = 0; i < KEYS; i++) awaitAnswer(counters, i, "before");

        proxy.set(fault);
        Patience.eventually(() -> !b.health().isAlive());
        for (int i = 0; i < KEYS; i++) {
          String idempotencyKey = "there " + i;
          int key = i;
          assertThrows(RequestException.class,
              () -> countersOfB.actor("k" + key).ask(new Add(idempotencyKey), Duration.ofMillis(300)));
        }
        for (int i = 0; i < KEYS; i++) awaitAnswer(counters, i, "meanwhile");
        assertFalse(b.health().isAlive());

        proxy.set(FaultProxy.Mode.FORWARD);
        Patience.eventually(() -> b.health().isAlive() && b.health().partitions().getOrDefault("counter", 0) > 2);
        for (int i = 0; i < KEYS; i++) awaitAnswer(countersOfB, i, "after");
      } finally { // otherwise the close of the executor waits for the askers
        stop.set(true);
      }
      for (var result : results) assertTrue(Patience.value(result) > 0);
    }
  }

  private static void awaitAnswer(Entities<String, Add> counters, int key, String idempotencyKey) {
    Patience.eventually(() -> isAnswered(counters, key, idempotencyKey));
  }
}
