package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorStats;
import io.fibry.RequestOutcome;
import io.fibry.durable.Bank.Balance;
import io.fibry.durable.Bank.Deposit;
import io.fibry.durable.Bank.Withdraw;
import io.fibry.store.MemoryStore;
import io.fibry.support.Logged;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class DurableInMemoryTest extends DurableContract {
  DurableInMemoryTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }

  @Test
  void turnThatIsNotStoredFailsRequestAndChangesNoState() {
    var ada = Bank.ACCOUNT.newActor(scope.named("ada"), store);
    ada.sendMessage(new Deposit(500));
    assertEquals(500, ada.ask(new Balance()));
    ((MemoryStore) store).failNext(1);

    var failure = assertThrows(StorageFailedException.class, () -> ada.ask(new Withdraw(200)));

    assertEquals("account 'ada' handled Withdraw[cents=200], and could not store the effects: a write failed, as the "
        + "test has asked for", failure.getMessage());
    assertEquals(RequestOutcome.NOT_DONE, failure.outcome());
    assertEquals(500, ada.ask(new Balance()));
  }

  @Test
  void storageFailureOmitsMessageContentsIfScopeHidesThem() {
    try (var hidden = scope.openScope("hidden", options -> options.withMessageContents(false))) {
      var ada = Bank.ACCOUNT.newActor(hidden.named("ada"), store);
      ada.sendMessage(new Deposit(5_000));
      assertEquals(5_000, ada.ask(new Balance()));
      ((MemoryStore) store).failNext(1);

      var failure = assertThrows(StorageFailedException.class, () -> ada.ask(new Withdraw(4_711)));

      assertEquals("account 'ada' handled Withdraw, and could not store the effects: a write failed, as the test has "
          + "asked for", failure.getMessage());
    }
  }

  @Test
  void entityIsNamedByKindAndKeyUnlessBuilderHasName() {
    try (var accounts = Bank.ACCOUNT.entities(scope.anonymous(), store, Duration.ofMinutes(5));
        var namedAccounts = Bank.ACCOUNT.entities(scope.named("others"), MemoryStore.open(),
            Duration.ofMinutes(5))) {
      accounts.actor("ada").ask(new Balance());
      namedAccounts.actor("bob").ask(new Balance());

      var names = scope.actors().stream().map(ActorStats::name).toList();
      assertTrue(names.containsAll(List.of("account/ada", "others/bob")), names::toString);
    }
  }

  @Test
  void repeatedStoreRefusalIsLoggedOnce() {
    var ada = Bank.ACCOUNT.newActor(scope.named("refused"), store); // no other test logs this name
    ada.ask(new Balance());
    ((MemoryStore) store).failNext(50);
    try (var logged = new Logged()) {
      for (int i = 0; i < 50; i++) assertThrows(StorageFailedException.class, () -> ada.ask(new Withdraw(0)));

      assertEquals(1,
          logged.lines("account 'refused' reads its state again, because its turn 1 was not stored").size());
    }
  }
}
