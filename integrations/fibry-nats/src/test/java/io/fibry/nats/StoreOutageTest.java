package io.fibry.nats;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.durable.Histories;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Durable actors whose server does not answer: for a while, or for good. */
class StoreOutageTest {
  private static final Duration IDLE = Duration.ofSeconds(1);

  private final ActorScope scope = ActorSystem.openScope("store-away");

  @AfterEach
  void end() {
    scope.close();
  }

  private static FaultyStores.One open() {
    return FaultyStores.open(Servers.network(), Servers.app(), options -> options);
  }

  @Test
  void transfersContinueWhenServerIsBack() throws InterruptedException {
    var one = open();
    try (var store = one.store();
        var accounts = Transfers.ACCOUNT.entities(scope.anonymous(), store, IDLE);
        var transfers = new Transfers(accounts)) {
      for (int i = 0; i < 2; i++) { // the second time with what the first has left
        transfers.awaitMore(50);
        one.down(true);
        transfers.awaitFailures(8); // each asker once
        one.down(false);
      }
      transfers.awaitMore(50);
      transfers.check();
      Histories.check(store, "account");
    }
  }

  @Test
  void transfersFailWhenConnectionIsCut() {
    var one = open();
    try (var store = one.store();
        var accounts = Transfers.ACCOUNT.entities(scope.anonymous(), store, IDLE);
        var transfers = new Transfers(accounts)) {
      transfers.awaitMore(50);
      one.cut();
      transfers.awaitFailures(8);
      assertTrue(transfers.answered() >= 50);
    }
  }
}
