package io.fibry.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.cluster.Engine.Entry;
import io.fibry.support.Patience;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A watch that is cut off while an entry ends, for longer than the server remembers the end. */
@ExtendWith(ServerEvidence.class)
class MissedEndTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final String app = Servers.app();
  private final List<Entry> told = new CopyOnWriteArrayList<>();

  private static NatsNetwork at(String url) {
    return NatsNetwork.at(url).withOptions(options -> options.pingInterval(SECOND));
  }

  private boolean isTold(String key, boolean there) {
    return told.stream().filter(entry -> entry.key().equals(key)).reduce((before, last) -> last)
        .filter(last -> last.value().isPresent() == there).isPresent();
  }

  private long keys(JetStreamManagement management) {
    try {
      return management.getStreamInfo(NatsTable.stream(app)).getStreamState().getSubjectCount();
    } catch (IOException | JetStreamApiException failure) {
      throw new AssertionError(failure);
    }
  }

  @Test
  void anEndIsHeardThoughTheServerHasForgottenIt() throws Exception {
    String url = Servers.shared().url();
    try (var cable = Cable.to(url);
        var here = at(cable.url()).link(app, "here");
        var there = at(url).link(app, "there");
        var table = NatsTable.of(there.connection(), app, 1, SECOND); // an end is remembered for a second
        var watched = NatsTable.of(here.connection(), app, 1, SECOND)) {
      here.onReconnected(watched::reconnected);
      var lasting = table.create("n.lasting", new byte[1], Duration.ofHours(1)).orElseThrow();
      var deleted = table.create("n.deleted", new byte[1], Duration.ofHours(1)).orElseThrow();
      table.create("n.expired", new byte[1], SECOND).orElseThrow();
      try (var watch = watched.watch("n.", told::add)) {
        Patience.eventually(() -> isTold("n.lasting", true) && isTold("n.deleted", true));

        cable.cut(Cable.Cut.ALL);
        assertTrue(table.delete("n.deleted", deleted));
        var management = there.connection().jetStreamManagement();
        Patience.eventually(() -> keys(management) == 1);
        cable.mend();

        Patience.eventually(() -> isTold("n.deleted", false) && isTold("n.expired", false));
        assertTrue(isTold("n.lasting", true));
        var next = table.create("n.deleted", new byte[2], Duration.ofHours(1)).orElseThrow();
        Patience.eventually(() -> isTold("n.deleted", true));
        long last = 0;
        for (var entry : told)
          if (entry.key().equals("n.deleted")) {
            assertTrue(entry.version() > last, told::toString);
            last = entry.version();
          }
        assertEquals(next, last);
      }
    }
  }
}
