package io.fibry.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.durable.StorageFailedException;
import io.fibry.examples.Bank.Deposit;
import io.fibry.examples.Bank.Withdraw;
import io.fibry.store.MemoryStore;
import io.fibry.test.FibryExtension;
import io.fibry.test.TestScope;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Shows how to test a durable actor with a store in memory that crashes or refuses a write. */
@ExtendWith(FibryExtension.class)
class BankTest {
  private MemoryStore store = MemoryStore.open();

  private Actor<Bank.Message> ada(TestScope scope) {
    return Bank.ACCOUNT.newActor(scope.named("ada"), store);
  }

  @Test
  void answeredWithdrawalSurvivesCrash(TestScope scope) {
    var account = ada(scope);
    account.ask(new Deposit(500));
    boolean isPaid = account.ask(new Withdraw(200));

    store = store.crash();
    account.kill();
    account.waitForExit();

    assertTrue(isPaid);
    long balance = ada(scope).ask(new Deposit(1));
    assertEquals(301, balance);
  }

  @Test
  void withdrawalThatCannotBeStoredLeavesBalanceUnchanged(TestScope scope) {
    var ada = ada(scope);
    ada.ask(new Deposit(500));
    store.failNext(1);

    assertThrows(StorageFailedException.class, () -> ada.ask(new Withdraw(200)));

    boolean isBalancePaid = ada.ask(new Withdraw(500));
    boolean isMorePaid = ada.ask(new Withdraw(1));
    assertTrue(isBalancePaid);
    assertFalse(isMorePaid);
  }
}
