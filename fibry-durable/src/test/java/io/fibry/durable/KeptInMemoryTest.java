package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.durable.Desk.Add;
import io.fibry.durable.Desk.Items;
import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class KeptInMemoryTest extends KeptContract {
  KeptInMemoryTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }

  @Override
  void failNextWrite() {
    ((MemoryStore) store).failNext(1);
  }

  @Test
  void aMessageThatCannotBeKeptIsRefused() {
    var ada = keeping().newActor(scope.named("ada"), store);
    ((MemoryStore) store).failNext(1);

    assertFalse(ada.sendMessage(new Add("a")));
    ((MemoryStore) store).failNext(1);
    var failure = assertThrows(NotStoredException.class, () -> ada.ask(new Items()));

    assertEquals(
        "keeping 'ada' does not get Items[], since it could not be kept: a write failed, as the test has asked "
            + "for",
        failure.getMessage());
    assertEquals("", ada.ask(new Items()));
  }

  @Test
  void aMessageWhoseTurnIsNotStoredComesAgain() {
    var ada = keeping().newActor(scope.named("ada"), store);
    var held = hold(ada);
    ada.sendMessage(new Add("a"));
    ((MemoryStore) store).failNext(1);
    held.countDown();

    eventually(() -> store.waiting(new Store.Id("keeping", "ada"), Instant.MAX, 9).isEmpty());
    assertEquals("a", ada.ask(new Items()));
  }
}
