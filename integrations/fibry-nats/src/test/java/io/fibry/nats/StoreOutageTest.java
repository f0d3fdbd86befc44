package io.fibry.nats;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.durable.Histories;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests durable actors whose server is unavailable for a while, or for good. */
class StoreOutageTest {
  private static final Duration IDLE = Duration.ofSeconds(1);

  private final ActorScope scope = ActorSystem.openScope("store-away");

  @AfterEach
  void end() {
    scope.close();
  }

  private static FaultyStores.FaultyStore open() {
    return FaultyStores.open(Servers.network(), Servers.app(), options -> options);
  }

  @Test
  void transfersContinueWhenServerReturns() throws InterruptedException {
    var faultyStore = open();
    try (var store = faultyStore.store();
        var accounts = Transfers.ACCOUNT.entities(scope.anonymous(), store, IDLE);
        var transfers = new Transfers(accounts)) {
      for (int i = 0; i < 2; i++) { // the second outage begins with the state after the first outage
        transfers.awaitMore(50);
        faultyStore.setDown(true);
        transfers.awaitFailures(8); // one for each asker
        faultyStore.setDown(false);
      }
      transfers.awaitMore(50);
      transfers.check();
      Histories.check(store, "account");
    }
  }

  @Test
  void transfersFailWhenConnectionIsCut() {
    var faultyStore = open();
    try (var store = faultyStore.store();
        var accounts = Transfers.ACCOUNT.entities(scope.anonymous(), store, IDLE);
        var transfers = new Transfers(accounts)) {
      transfers.awaitMore(50);
      faultyStore.closeConnection();
      transfers.awaitFailures(8);
      assertTrue(transfers.answerCount() >= 50);
    }
  }
}
