package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import io.fibry.store.Store.StoredTurn;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The oracle itself: which histories it accepts, and which it refuses. */
class HistoriesTest {
  private final List<StoredTurn> turns = new ArrayList<>();

  private HistoriesTest turn(long number, boolean whole) {
    turns.add(new StoredTurn("p", "ada", number, Instant.EPOCH, whole, new byte[] {(byte) number}));
    return this;
  }

  private HistoriesTest turns(int first, int last) {
    for (int i = first; i <= last; i++) turn(i, false);
    return this;
  }

  private void isRefused(String sentence) {
    var refused = assertThrows(AssertionError.class, () -> Histories.check("account", turns));
    assertTrue(refused.getMessage().contains(sentence), refused.getMessage());
  }

  @Test
  void gapUpToWholeTurnIsAllowed() {
    turns(1, 62).turn(101, true).turns(102, 104); // a purge between two pages
    Histories.check("account", turns);
    turns(106, 107).turn(108, true).turns(109, 110);
    Histories.check("account", turns);
  }

  @Test
  void gapAfterLastWholeTurnIsRefused() {
    turn(5, true).turns(6, 7).turns(9, 10);
    isRefused("only turns [5, 6, 7, 9, 10] have come of account 'ada'");
    turns(11, 12).turn(13, true);
    Histories.check("account", turns);
  }

  @Test
  void missingBeginningWithoutAWholeTurnIsRefused() {
    turns(2, 4);
    isRefused("a later whole one replaced");
  }

  @Test
  void repeatedTurnMustBeIdentical() {
    turns(1, 5).turns(3, 6);
    Histories.check("account", turns);
    turn(6, true);
    isRefused("comes again");
  }

  @Test
  void anotherOrderIsRefused() {
    turns(1, 2).turn(4, true).turn(3, false);
    isRefused("have its order");
  }

  @Test
  void historyMustEndAtLastStoredTurn() throws Exception {
    try (var store = MemoryStore.open()) {
      long life = store.load(Turning.ADA).life();
      for (int i = 1; i <= 3; i++) Turning.append(store, Turning.turn(Turning.ADA, life, i));
      assertEquals(3, Histories.check(store, "account").size());

      store.beginLife(Turning.ADA, 9);
      assertThrows(AssertionError.class, () -> Histories.check(store, "account"));
    }
    try (var store = MemoryStore.open()) {
      store.beginLife(new Store.ActorId("account", "lost"), 1);
      var refused = assertThrows(AssertionError.class, () -> Histories.check(store, "account"));
      assertTrue(refused.getMessage().contains("of account 'lost'"), refused.getMessage());
    }
  }
}
