package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.store.spi.StoreBackend.StoredTurn;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests which histories {@link Histories}, the oracle of other tests, accepts and refuses. */
class HistoriesTest {
  private final List<StoredTurn> turns = new ArrayList<>();

  private HistoriesTest turn(long number, boolean isFullState) {
    turns.add(new StoredTurn("p", "ada", number, Instant.EPOCH, isFullState, new byte[] {(byte) number}));
    return this;
  }

  private HistoriesTest turns(int begin, int end) {
    for (int i = begin; i <= end; i++) turn(i, false);
    return this;
  }

  private void assertRefused(String sentence) {
    var failure = assertThrows(AssertionError.class, () -> Histories.check("account", turns));
    assertTrue(failure.getMessage().contains(sentence), failure.getMessage());
  }

  @Test
  void gapBeforeFullStateTurnIsAccepted() {
    turns(1, 62).turn(101, true).turns(102, 104); // the store removed turns between two pages
    Histories.check("account", turns);
    turns(106, 107).turn(108, true).turns(109, 110);
    Histories.check("account", turns);
  }

  @Test
  void gapAfterLastFullStateTurnIsRefused() {
    turn(5, true).turns(6, 7).turns(9, 10);
    assertRefused("only turns [5, 6, 7, 9, 10] of account 'ada'");
    turns(11, 12).turn(13, true);
    Histories.check("account", turns);
  }

  @Test
  void historyWithoutBeginningOrFullStateTurnIsRefused() {
    turns(2, 4);
    assertRefused("a later full-state turn replaced");
  }

  @Test
  void repeatedTurnIsAcceptedOnlyIfIdentical() {
    turns(1, 5).turns(3, 6);
    Histories.check("account", turns);
    turn(6, true);
    assertRefused("may come again");
  }

  @Test
  void turnsInWrongOrderAreRefused() {
    turns(1, 2).turn(4, true).turn(3, false);
    assertRefused("in the order of their numbers");
  }

  @Test
  void historyThatEndsBeforeLastStoredTurnIsRefused() throws Exception {
    try (var store = StoreBackend.of(MemoryStore.open())) {
      long life = store.load(TestTurns.ADA).life();
      for (int i = 1; i <= 3; i++) TestTurns.append(store, TestTurns.turn(TestTurns.ADA, life, i));
      assertEquals(3, Histories.check(store, "account").size());

      store.beginLife(TestTurns.ADA, 9);
      assertThrows(AssertionError.class, () -> Histories.check(store, "account"));
    }
    try (var store = StoreBackend.of(MemoryStore.open())) {
      store.beginLife(new Store.ActorId("account", "lost"), 1);
      var failure = assertThrows(AssertionError.class, () -> Histories.check(store, "account"));
      assertTrue(failure.getMessage().contains("of account 'lost'"), failure.getMessage());
    }
  }
}
