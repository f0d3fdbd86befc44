package io.fibry.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.examples.Account.Balance;
import io.fibry.examples.Account.Deposit;
import io.fibry.examples.Account.Withdraw;
import io.fibry.test.FibryExtension;
import io.fibry.test.TestScope;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Shows a test of an actor. The test creates the actor in its scope and asks it, and the extension
 * ends the actor.
 */
@ExtendWith(FibryExtension.class)
class AccountTest {
  private Actor<Account.Message> account;

  @BeforeEach
  void openAccount(TestScope scope) {
    account = scope.named("account").initialState(Account::new).newActor(Account::handle);
    account.sendMessage(new Deposit(500));
  }

  @Test
  void moneyInAccountCanBeWithdrawn() {
    boolean isPaid = account.ask(new Withdraw(200));

    assertTrue(isPaid);
    assertBalance(300);
  }

  @Test
  void withdrawalAboveBalanceIsRefused() {
    boolean isPaid = account.ask(new Withdraw(501));

    assertFalse(isPaid);
    assertBalance(500);
  }

  private void assertBalance(long expected) {
    long balance = account.ask(new Balance());
    assertEquals(expected, balance);
  }
}
