package io.fibry.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.durable.NotStoredException;
import io.fibry.examples.Bank.Deposit;
import io.fibry.examples.Bank.Withdraw;
import io.fibry.store.MemoryStore;
import io.fibry.test.FibryExtension;
import io.fibry.test.TestScope;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** How to test a durable actor: keep it in memory, crash the store, and ask its successor. */
@ExtendWith(FibryExtension.class)
class BankTest {
  private MemoryStore store = MemoryStore.open();

  private Actor<Bank.Message> ada(TestScope scope) {
    return Bank.ACCOUNT.newActor(scope.named("ada"), store);
  }

  @Test
  void answeredWithdrawalSurvivesCrash(TestScope scope) {
    var before = ada(scope);
    before.ask(new Deposit(500));
    boolean paid = before.ask(new Withdraw(200));

    store = store.crash();
    before.kill();
    before.waitForExit();

    assertTrue(paid);
    long balance = ada(scope).ask(new Deposit(1));
    assertEquals(301, balance);
  }

  @Test
  void unstoredWithdrawalLeavesBalanceUnchanged(TestScope scope) {
    var ada = ada(scope);
    ada.ask(new Deposit(500));
    store.failNext(1);

    assertThrows(NotStoredException.class, () -> ada.ask(new Withdraw(200)));

    boolean allIsThere = ada.ask(new Withdraw(500));
    boolean more = ada.ask(new Withdraw(1));
    assertTrue(allIsThere);
    assertFalse(more);
  }
}
