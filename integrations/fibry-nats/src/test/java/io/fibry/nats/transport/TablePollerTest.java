package io.fibry.nats.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.spi.ClusterTransport.Entry;
import io.fibry.support.UnreadableException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Tests which changes an asker sees if the nodes that it asks have different tables. */
class TablePollerTest {
  private final List<String> notifications = new ArrayList<>();
  private List<Entry> answer = List.of(); // null: no node is alive
  private final TablePoller poller = new TablePoller(this::answer,
      entry -> notifications.add((entry.value().isPresent() ? "" : "no ") + entry.key() + " " + entry.version()));

  private static Entry entry(String key, long version) {
    return new Entry(key, Optional.of(new byte[0]), version);
  }

  private List<Entry> answer() {
    if (answer == null) throw new TransportException(Failure.NO_RECEIVER, "planned");
    return answer;
  }

  private void read(Entry... entries) {
    answer = List.of(entries);
    poller.read();
  }

  @Test
  void readerIsNotNotifiedOfOlderVersionOfEntry() {
    read(entry("a", 5));
    read(entry("a", 4));
    read(entry("a", 6));

    assertEquals(List.of("a 5", "a 6"), notifications);
  }

  @Test
  void entryMissingInTwoConsecutiveReadsIsReportedDeleted() {
    read(entry("a", 5), entry("b", 6));
    read(entry("b", 6));
    read(entry("a", 5), entry("b", 6));
    read(entry("b", 6));
    assertEquals(List.of("a 5", "b 6"), notifications);

    read(entry("b", 6));
    read(entry("b", 6));

    assertEquals(List.of("a 5", "b 6", "no a 5"), notifications);
  }

  /** If the log line of the failure threw, the thread would end, and report no further change. */
  @Test
  void entriesAreReadAfterUnreadableFailure() {
    var answers = new ArrayDeque<Supplier<List<Entry>>>(List.of(() -> {
      throw new UnreadableException();
    }, () -> List.of(entry("a", 5))));
    var failingPoller = new TablePoller(() -> answers.remove().get(), entry -> notifications.add(entry.key()));

    failingPoller.read();
    failingPoller.read();

    assertEquals(List.of("a"), notifications);
  }

  @Test
  void staleAnswerDoesNotReviveDeletedEntry() {
    read(entry("a", 5));
    answer = null;
    poller.read();
    poller.read();

    read(entry("a", 5));
    read(entry("a", 4));
    assertEquals(List.of("a 5", "no a 5"), notifications);
    read(entry("a", 7));

    assertEquals(List.of("a 5", "no a 5", "a 7"), notifications);
  }
}
