package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.codec.CodecException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class OldFormsInMemoryTest extends OldFormsContract {
  OldFormsInMemoryTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }

  @Test
  void unreadableSnapshotFailsLoadWhenEventsAreRemoved() {
    var olderTill = ada(olderKind(kind().retainEvents(Duration.ZERO)));
    pay(olderTill, 2);
    clock.advance(Duration.ofSeconds(2));
    pay(olderTill, 5);
    end(olderTill);
    assertEquals(5, store.turns(ADA).size());

    var failure = assertThrows(CodecException.class, () -> ada(newerKind()).ask(new Pay(5)));
    String text = failure.getMessage();
    assertTrue(text.contains("turn 6 of till 'ada' cannot be read: "), text);
    assertTrue(text.contains("nor can its state be computed from its events, because turn 1 is not stored any more. "
        + "Give events(..) a codec of the state that reads the old form, by evolution.readOld(..)"), text);
  }
}
