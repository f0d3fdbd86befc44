package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.durable.Desk.Add;
import io.fibry.durable.Desk.Buy;
import io.fibry.durable.Desk.Fail;
import io.fibry.durable.Desk.Items;
import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import io.fibry.store.StoreReadException;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Intercepted;
import io.fibry.support.Logged;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class StoredMessagesInMemoryTest extends StoredMessagesContract {
  StoredMessagesInMemoryTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }

  private final AtomicBoolean readsFail = new AtomicBoolean();
  private final AtomicInteger refusedReads = new AtomicInteger();

  @Override
  int messagesPerSender() {
    return 150;
  }

  @Override
  void failNextWrite() {
    ((MemoryStore) store).failNext(1);
  }

  @Override
  void failReads(boolean fail) {
    readsFail.set(fail);
  }

  @Override
  StoreBackend failingStore() {
    var reads = Set.of("load", "pending", "forEachPending", "dueTime", "nextDueTime");
    return Intercepted.of(StoreBackend.class, store, (method, arguments, call) -> {
      if (!reads.contains(method.getName()) || !readsFail.get()) return call.pass();
      refusedReads.incrementAndGet();
      throw new StoreReadException("there is no store, as the test has asked for", null);
    });
  }

  @Test
  void messageIsHandledAfterStoreIsReadableAgain() {
    var ada = keeping().newActor(scope.named("ada"), failingStore());
    var gate = hold(ada);
    var answer = ada.sendMessageReturn(new Buy("x", "a"));

    failReads(true);
    answer.cancel(true); // so a courier must read the message from the store
    eventually(() -> refusedReads.get() > 0);
    failReads(false);
    gate.countDown();

    eventually(() -> {
      clock.advance(Duration.ofSeconds(1));
      return store.pending(new Store.ActorId("keeping", "ada"), Instant.MAX, 9).isEmpty();
    });
    assertEquals("a", ada.ask(new Items()));
  }

  @Test
  void parkedMessageIsLoggedWithKindAndKey() {
    var desk = keeping().newActor(scope.named("parks"), store); // no other test logs this name
    try (var logged = new Logged()) {
      desk.sendMessage(new Fail("poison"));
      eventually(() -> keeping().parked(store).size() == 1);

      eventually(() -> logged.lines("keeping 'parks' parked message Fail as '").size() == 1);
    }
  }

  private static final int ACTORS = 100;

  private void storeUnreadableMessages(String keyPrefix) {
    for (int i = 0; i < ACTORS; i++) {
      var unreadable = new byte[] {1};
      store.enqueue(new StoreBackend.PendingMessage(new Store.ActorId("keeping", keyPrefix + i), "m", Instant.EPOCH,
          unreadable), 9).toCompletableFuture().join();
    }
  }

  private static void assertFewLines(Logged logged, String part) {
    int lines = logged.lines(part).size();
    assertTrue(lines > 0 && lines < 10, () -> lines + " lines: " + logged.text()); // at most one line per minute
  }

  /** An older program that runs for a while may find thousands of messages from a newer program. */
  @Test
  void unreadableMessagesAreLoggedInFewLines() {
    storeUnreadableMessages("unread");
    var finishedReads = new AtomicInteger();
    var countingStore = Intercepted.of(StoreBackend.class, store, (method, arguments, call) -> {
      if (method.getName().equals("nextDueTime")) finishedReads.incrementAndGet();
      return call.pass();
    });
    try (var logged = new Logged(); var desks = keeping().entities(scope.anonymous(), countingStore, IDLE)) {
      eventually(() -> finishedReads.get() >= ACTORS);

      assertEquals(0, desks.size());
      assertFewLines(logged, "a message that waits for keeping 'unread");
    }
  }

  @Test
  void failedReadsOfPendingMessagesAreLoggedInFewLines() {
    storeUnreadableMessages("late");
    var failedReads = new AtomicInteger();
    var failingStore = Intercepted.of(StoreBackend.class, store, (method, arguments, call) -> {
      if (!method.getName().equals("pending")) return call.pass();
      failedReads.incrementAndGet();
      throw new StoreReadException("there is no store, as the test has asked for", null);
    });
    String line = "messages that wait for keeping 'late";
    try (var logged = new Logged(); var desks = keeping().entities(scope.anonymous(), failingStore, IDLE)) {
      eventually(() -> {
        clock.advance(Duration.ofSeconds(1));
        return failedReads.get() >= 2 * ACTORS && !logged.lines(line).isEmpty();
      });

      assertEquals(0, desks.size());
      assertFewLines(logged, line);
    }
  }

  @Test
  void messageThatCannotBeStoredIsRefused() {
    var ada = keeping().newActor(scope.named("ada"), store);
    ((MemoryStore) store).failNext(1);

    assertFalse(ada.sendMessage(new Add("a")));
    ((MemoryStore) store).failNext(1);
    var failure = assertThrows(StorageFailedException.class, () -> ada.ask(new Items()));

    assertEquals(
        "keeping 'ada' does not get Items[], because it could not be stored: a write failed, as the test has asked "
            + "for",
        failure.getMessage());
    assertEquals("", ada.ask(new Items()));
  }

  @Test
  void messageIsRetriedWhenItsTurnIsNotStored() {
    var ada = keeping().newActor(scope.named("ada"), store);
    var gate = hold(ada);
    ada.sendMessage(new Add("a"));
    ((MemoryStore) store).failNext(1);
    gate.countDown();

    eventually(() -> store.pending(new Store.ActorId("keeping", "ada"), Instant.MAX, 9).isEmpty());
    assertEquals("a", ada.ask(new Items()));
  }
}
