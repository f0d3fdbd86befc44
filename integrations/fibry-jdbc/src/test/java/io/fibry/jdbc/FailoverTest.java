package io.fibry.jdbc;

import static io.fibry.durable.TestTurns.ADA;
import static io.fibry.durable.TestTurns.append;
import static io.fibry.durable.TestTurns.turn;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.StoreDamagedException;
import io.fibry.store.spi.StoreBackend;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests histories of a database that has lost its last turns, as after a failover. */
class FailoverTest extends DatabaseFixture {
  FailoverTest() {
    super(DatabaseFixture::postgres);
  }

  private void storeAndReadTwoTurns(StoreBackend store, StoreBackend.History history) throws Exception {
    long life = store.load(ADA).life();
    append(store, turn(ADA, life, 1));
    append(store, turn(ADA, life, 2));
    for (int turns = 0; turns < 2;) turns += history.take().size();
  }

  private static void assertTurnsLost(StoreBackend.History history) {
    var failure = assertThrows(StoreDamagedException.class, history::poll);
    assertTrue(failure.getMessage().contains("has lost turns that the history of kind 'account' has shown"),
        failure.getMessage());
  }

  @Test
  void pollThrowsWhenTurnThatItLastReadIsLost() throws Exception {
    var store = open();
    try (var history = store.history("account", "")) {
      storeAndReadTwoTurns(store, history);
      assertEquals(List.of(), history.poll());
      execute("delete from fibry_turn where number = 2");
      execute("update fibry_actor set last = 1");

      assertTurnsLost(history);
    }
  }

  @Test
  void pollThrowsWhenTurnThatItLastReadIsReplaced() throws Exception {
    var store = open();
    try (var history = store.history("account", "")) {
      storeAndReadTwoTurns(store, history);
      execute("delete from fibry_turn where number = 2");
      execute("update fibry_actor set last = 1");
      append(store, turn(ADA, store.load(ADA).life(), 2));

      assertTurnsLost(history);
    }
  }

  /**
   * A view may store the offset of a lost turn after the failover, and later begin at this offset.
   */
  @Test
  void offsetOfLostTurnIsRefusedByNextHistory() throws Exception {
    var store = open();
    String offset;
    try (var history = store.history("account", "")) {
      storeAndReadTwoTurns(store, history);
      offset = store.turns(ADA).getLast().offset();
    }
    execute("delete from fibry_turn where number = 2");
    execute("update fibry_actor set last = 1");
    try (var history = store.history("account", offset)) {
      assertTurnsLost(history);
    }
    append(store, turn(ADA, store.load(ADA).life(), 2));

    try (var history = store.history("account", offset)) {
      assertTurnsLost(history);
    }
  }

  @Test
  void offsetOfFutureTransactionIsRefused() throws Exception {
    var store = open();
    append(store, turn(ADA, store.load(ADA).life(), 1));
    try (var history = store.history("account", "9999999999999.1")) {
      assertTurnsLost(history);
    }
  }
}
