package io.fibry.opentelemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.MemoryNetwork;
import io.fibry.durable.Durable;
import io.fibry.durable.StorageFailedException;
import io.fibry.store.folder.FolderStore;
import io.fibry.support.Patience;
import io.fibry.test.CrashDisk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreAndNodeMetricsTest {
  record Count() implements Request<Count, Long> {}

  /** Counts, and sets a reminder that is due in a year. */
  private static final Durable<Count> COUNTER =
      Durable.kind("counter", Count.class).state(0L).handler((n, count, context) -> {
        context.setReminder("again", new Count(), Duration.ofDays(365));
        context.reply(count, n + 1);
        return n + 1;
      });

  private final Telemetry telemetry = new Telemetry();
  private final OpenTelemetryMetrics metrics = OpenTelemetryMetrics.of(telemetry.api());

  @AfterEach
  void close() {
    metrics.close();
    telemetry.close();
  }

  private double ofStore(String suffix) {
    return telemetry.value("fibry.store." + suffix, Map.of("store", "orders"));
  }

  @Test
  void storeHealthIsShownByMetrics(@TempDir Path folder) {
    try (var store = FolderStore.open(folder)) {
      // @start region="store"
      StoreMetrics.addTo(metrics, "orders", store);
      // @end
      try (var actor = COUNTER.newActor(ActorSystem.named("c"), store)) {
        for (int i = 0; i < 3; i++) actor.ask(new Count());
      }
      Patience.eventually(() -> ofStore("turns") == 3 && ofStore("pending.writes") == 0); // counted after the answers
      assertEquals(0, ofStore("refused"));
      assertEquals(1, ofStore("actors"));
      assertEquals(1, ofStore("pending.messages"));
      assertEquals(0, ofStore("parked.messages"));
      assertEquals(0, ofStore("full") + ofStore("broken"));
      Patience.eventually(() -> store.health().bytes() == ofStore("size"));
      Patience.eventually(() -> ofStore("fsyncs") == store.health().syncs().count()
          && ofStore("fsync.time") == store.health().syncs().total().toNanos() / 1e9);
      assertEquals("By", telemetry.metric("fibry.store.size").orElseThrow().getUnit());
    }
  }

  @Test
  void metricsShowBrokenStateOfClosedStore() {
    var disk = CrashDisk.empty();
    try (var store = FolderStore.open(disk, options -> options.withSegmentBytes(1 << 14));
        var actor = COUNTER.newActor(ActorSystem.named("c"), store)) {
      StoreMetrics.addTo(metrics, "orders", store);
      disk.beforeOperation(operation -> {
        throw new UncheckedIOException(new IOException("made up, for a test"));
      });
      assertThrows(StorageFailedException.class, () -> actor.ask(new Count()));
    }
    assertEquals(1, ofStore("broken"));
    assertEquals(1, ofStore("refused"));
  }

  private double ofNode(String suffix) {
    return telemetry.value("fibry.node." + suffix, Map.of("app", "shop", "node", "n1"));
  }

  private static Cluster join(MemoryNetwork network, String node) {
    return Cluster.join("shop", network,
        options -> options.withNode(node).withPartitions(8).withLease(Duration.ofMinutes(1)));
  }

  @Test
  void nodeHealthIsShownByMetrics() {
    var network = MemoryNetwork.create();
    var gate = new CountDownLatch(1);
    try (var cluster = join(network, "n1")) {
      // @start region="node"
      NodeMetrics.addTo(metrics, cluster);
      // @end
      assertEquals(List.of(2.0, 0.0), List.of(ofNode("alive") + ofNode("connected"), ofNode("leaving")));
      cluster.host("counter", Count.class, ActorSystem.anonymous(), Duration.ofMinutes(1),
          (builder, key) -> builder.newActor((Count count, ActorContext<Count> context) -> {
            gate.await();
            context.reply(count, 1L);
          }));
      Patience.eventually(() -> ofNode("partitions") == 8);
      try (var otherNode = join(network, "n2")) {
        var answer = otherNode.entities("counter", Count.class).actor("x").sendMessageReturn(new Count());
        Patience.eventually(() -> ofNode("pending.requests") == 1 && ofNode("members") == 2);
        gate.countDown();
        assertEquals(1, Patience.value(answer));
      } finally {
        gate.countDown();
      }
      Patience.eventually(() -> ofNode("pending.requests") == 0 && ofNode("members") == 1);
    }
    Patience.eventually(() -> ofNode("alive") + ofNode("connected") == 0);
    assertEquals(1, ofNode("leaving"));
    assertTrue(telemetry.metric("fibry.node.alive").isPresent());
  }
}
