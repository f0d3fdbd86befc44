package io.fibry.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.ClusterTransport.Entry;
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

/** A watch that is cut off while an entry ends, for longer than the server remembers the end. */
@ExtendWith(ServerEvidence.class)
class MissedDeletionTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final String app = Servers.app();
  private final List<Entry> told = new CopyOnWriteArrayList<>();

  /** An end is remembered for a second, and only a reconnection makes a node look at all keys. */
  private ClusterTransport connect(String node, String url) {
    return NatsNetwork.connectTo(url).withOptions(options -> options.pingInterval(SECOND)).connect(app, node,
        new NatsTable.TableTimings(SECOND, Duration.ofDays(1)));
  }

  private boolean isTold(String key, boolean there) {
    return told.stream().filter(entry -> entry.key().equals(key)).reduce((before, last) -> last)
        .filter(last -> last.value().isPresent() == there).isPresent();
  }

  private long keys(JetStreamManagement streams) {
    try {
      return streams.getStreamInfo(NatsTable.streamName(app)).getStreamState().getSubjectCount();
    } catch (IOException | JetStreamApiException failure) {
      throw new AssertionError(failure);
    }
  }

  @Test
  void deletionForgottenByServerIsDetected() throws Exception {
    String url = Servers.shared().url();
    var tools = Nats.connect(url);
    try (var cable = Cable.to(url); var here = connect("here", cable.url()); var there = connect("there", url)) {
      var streams = tools.jetStreamManagement();
      there.create("n.lasting", new byte[1], ClusterTransport.FOREVER).orElseThrow();
      long deleted = there.create("n.deleted", new byte[1], ClusterTransport.FOREVER).orElseThrow();
      there.create("n.expired", new byte[1], Duration.ofSeconds(5)).orElseThrow();
      var watch = here.watch("n.", told::add);
      try {
        Patience.eventually(() -> isTold("n.lasting", true) && isTold("n.deleted", true));
        boolean expires = isTold("n.expired", true); // false if this machine stood still

        cable.cut(Cable.Cut.ALL);
        assertTrue(there.delete("n.deleted", deleted));
        Patience.eventually(() -> keys(streams) == 1);
        cable.mend();

        Patience.eventually(() -> isTold("n.deleted", false) && (!expires || isTold("n.expired", false)));
        assertTrue(isTold("n.lasting", true));
        long next = there.create("n.deleted", new byte[2], ClusterTransport.FOREVER).orElseThrow();
        Patience.eventually(() -> isTold("n.deleted", true));
        var versions = told.stream().filter(entry -> entry.key().equals("n.deleted")).map(Entry::version).toList();
        assertEquals(versions.stream().sorted().distinct().toList(), versions);
        assertEquals(next, versions.getLast());
      } finally {
        watch.close();
      }
    } finally {
      tools.close();
    }
  }
}
