package io.fibry.nats.store;

import static io.fibry.durable.TestTurns.ADA;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.nats.StreamFixture;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Patience;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests an actor that has more pending messages than the store reads or purges at once. */
class PendingMessagesTest extends StreamFixture {
  private static final int MESSAGES = 300; // more than the store reads or purges at once

  private List<String> storeMessages() {
    var ids = IntStream.range(0, MESSAGES).mapToObj(i -> "m" + i).toList();
    for (var id : ids) store.enqueue(message(ADA, id), Integer.MAX_VALUE);
    Patience.eventually(() -> countMessages(subjects.messagesFilter(ADA)) == MESSAGES);
    return ids;
  }

  @Test
  void messageReplacedDuringReadIsReadOnce() {
    storeMessages();
    var otherStore = open().store();
    faulty.runBeforeSecondSingleRead(
        () -> otherStore.enqueue(message(ADA, "m0"), Integer.MAX_VALUE).toCompletableFuture().join());

    var ids = store.pending(ADA, Instant.MAX, 2 * MESSAGES).stream().map(StoreBackend.PendingMessage::id).toList();

    assertEquals(MESSAGES, ids.size());
    assertEquals("m0", ids.getLast());
    assertEquals(MESSAGES, Set.copyOf(ids).size());
  }

  @Test
  void endOfLifeAwaitsAllPurgesThatItStarts() {
    var ids = storeMessages();
    var pendingMessages = faulty.pendingMessages(ADA);
    faulty.failPurges();
    pendingMessages.beginLife(pendingMessages.findPresent(ids));
    faulty.allowPurges();

    pendingMessages.endLife();

    assertEquals(0, faulty.countRunningPurges());
    assertEquals(0, countMessages(subjects.messagesFilter(ADA)));
  }
}
