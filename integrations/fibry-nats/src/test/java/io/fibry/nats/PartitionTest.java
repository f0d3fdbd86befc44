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

/** A node that is cut off from the servers, in both directions or in one. */
@Soak(counterpart = "ClusterSimulationTest")
@ExtendWith(ServerEvidence.class)
class PartitionTest {
  record Add(String idempotencyKey) implements Request<Add, Long>, Idempotent {}

  private static final int KEYS = 20;
  private static final Duration LEASE = Duration.ofSeconds(20); // a busy machine is not taken for dead
  private static final Duration LIMIT = Duration.ofSeconds(2);
  private static final Durable<Add> COUNTER =
      Durable.kind("counter", Add.class).state(0L).handler((count, add, context) -> {
        context.reply(add, count + 1);
        return count + 1;
      });

  private final String app = Servers.app();
  private final ActorScope scope = ActorSystem.openScope("partition-test");
  private final AtomicBoolean end = new AtomicBoolean();

  @AfterEach
  void close() {
    scope.close();
  }

  private Cluster join(String node, String url) {
    return Cluster.join(app,
        NatsNetwork.connectTo(url).withOptions(options -> options.pingInterval(Duration.ofSeconds(1))),
        options -> options.withNode(node).withLease(LEASE).withPartitions(16).withScope(scope));
  }

  private static boolean answers(Entities<String, Add> counters, int key, String once) {
    try {
      counters.actor("k" + key).ask(new Add(once), LIMIT);
      return true;
    } catch (RequestException | CancellationException | RemoteFailureException again) {
      return false;
    }
  }

  /** {@return how many were answered: each answer must be one more than the last} */
  private Callable<Long> adding(Entities<String, Add> counters, int asker) {
    return () -> {
      long last = 0;
      for (int i = 0; !end.get(); i++) {
        var add = new Add(asker + "-" + i);
        while (true) try {
          assertEquals(++last, counters.actor("own" + asker).ask(add, LIMIT));
          break;
        } catch (RequestException | CancellationException | RemoteFailureException again) {
          last--;
        }
      }
      return last;
    };
  }

  @ParameterizedTest
  @EnumSource(value = Cable.Cut.class, mode = EnumSource.Mode.EXCLUDE, names = "NOTHING")
  void partitionedNodeYieldsAndRejoins(Cable.Cut cut) throws Exception {
    String url = Servers.shared().url();
    try (var cable = Cable.to(url);
        var a = join("a", url);
        var asking = join("asking", url);
        var b = join("b", cable.url());
        var askers = Executors.newVirtualThreadPerTaskExecutor()) {
      a.host(COUNTER, scope.anonymous(), Duration.ofMinutes(5));
      var atB = b.host(COUNTER, scope.anonymous(), Duration.ofMinutes(5));
      var counters = asking.entities(COUNTER);
      Patience.eventually(() -> b.health().partitions().getOrDefault("counter", 0) > 2);
      var all = IntStream.range(0, 4).mapToObj(i -> askers.submit(adding(counters, i))).toList();
      for (int i = 0; i < KEYS; i++) answersAtLast(counters, i, "before");

      cable.cut(cut);
      Patience.eventually(() -> !b.health().isAlive());
      for (int i = 0; i < KEYS; i++) {
        String once = "there " + i;
        int key = i;
        assertThrows(RequestException.class, () -> atB.actor("k" + key).ask(new Add(once), Duration.ofMillis(300)));
      }
      for (int i = 0; i < KEYS; i++) answersAtLast(counters, i, "meanwhile");
      assertFalse(b.health().isAlive());

      cable.mend();
      Patience.eventually(() -> b.health().isAlive() && b.health().partitions().getOrDefault("counter", 0) > 2);
      for (int i = 0; i < KEYS; i++) answersAtLast(atB, i, "after");
      end.set(true);
      for (var one : all) assertTrue(Patience.value(one) > 0);
    }
  }

  private static void answersAtLast(Entities<String, Add> counters, int key, String once) {
    Patience.eventually(() -> answers(counters, key, once));
  }
}
