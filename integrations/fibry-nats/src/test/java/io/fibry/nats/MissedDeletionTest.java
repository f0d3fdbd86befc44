package io.fibry.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.ClusterTransport.Entry;
import io.fibry.nats.connection.AppSubjects;
import io.fibry.nats.transport.NatsTable;
import io.fibry.support.FaultProxy;
import io.fibry.support.Patience;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.Nats;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests a watch that is cut off until the server has forgotten that it deleted an entry. */
@ExtendWith(ServerEvidence.class)
class MissedDeletionTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final String app = Servers.app();
  private final List<Entry> notifications = new CopyOnWriteArrayList<>();

  /**
   * The server forgets a deletion after a second. Nodes list all keys only after a reconnect,
   * because their interval is a day.
   */
  private ClusterTransport connect(String node, String url) {
    return NatsNetwork.connectTo(url).withOptions(options -> options.pingInterval(SECOND)).connector()
        .connect(app, node, new NatsTable.TableTimings(SECOND, Duration.ofDays(1)));
  }

  private boolean isReported(String key, boolean exists) {
    return notifications.stream().filter(entry -> entry.key().equals(key)).reduce((entry, laterEntry) -> laterEntry)
        .filter(entry -> entry.value().isPresent() == exists).isPresent();
  }

  private long keys(JetStreamManagement streams) {
    try {
      return streams.getStreamInfo(new AppSubjects(app).tableStream()).getStreamState().getSubjectCount();
    } catch (IOException | JetStreamApiException failure) {
      throw new AssertionError(failure);
    }
  }

  @Test
  void watcherDetectsDeletionAfterServerRemovedItsMarker() throws Exception {
    String url = Servers.shared().url();
    var client = Nats.connect(url);
    try (var proxy = FaultProxy.to(url);
        var watcher = connect("here", proxy.natsUrl());
        var writer = connect("there", url)) {
      var streams = client.jetStreamManagement();
      writer.create("n.lasting", new byte[1], ClusterTransport.FOREVER).orElseThrow();
      long deleted = writer.create("n.deleted", new byte[1], ClusterTransport.FOREVER).orElseThrow();
      writer.create("n.expired", new byte[1], Duration.ofSeconds(5)).orElseThrow();
      var watch = watcher.watch("n.", notifications::add);
      try {
        Patience.eventually(() -> isReported("n.lasting", true) && isReported("n.deleted", true));
        boolean isExpiryDue = isReported("n.expired", true); // false after a suspension: the entry has expired

        proxy.set(FaultProxy.Mode.DROP);
        assertTrue(writer.delete("n.deleted", deleted));
        Patience.eventually(() -> keys(streams) == 1);
        proxy.set(FaultProxy.Mode.FORWARD);

        Patience.eventually(() -> isReported("n.deleted", false) && (!isExpiryDue || isReported("n.expired", false)));
        assertTrue(isReported("n.lasting", true));
        long newVersion = writer.create("n.deleted", new byte[2], ClusterTransport.FOREVER).orElseThrow();
        Patience.eventually(() -> isReported("n.deleted", true));
        var versions = notifications.stream().filter(entry -> entry.key().equals("n.deleted"))
            .map(Entry::version).toList();
        assertEquals(versions.stream().sorted().distinct().toList(), versions);
        assertEquals(newVersion, versions.getLast());
      } finally {
        watch.close();
      }
    } finally {
      client.close();
    }
  }
}
