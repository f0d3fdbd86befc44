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
 * A test of an actor: it makes the actor in the test's scope and asks it, and the extension ends
 * it.
 */
@ExtendWith(FibryExtension.class)
class AccountTest {
  private Actor<Account.Message> account;

  @BeforeEach
  void open(TestScope scope) {
    account = scope.named("account").initialState(Account::new).newActor(Account::handle);
    account.sendMessage(new Deposit(500));
  }

  @Test
  void moneyThatIsThereCanBeWithdrawn() {
    boolean paid = account.ask(new Withdraw(200));

    assertTrue(paid);
    assertBalance(300);
  }

  @Test
  void moreThanTheBalanceCannotBeWithdrawn() {
    boolean paid = account.ask(new Withdraw(501));

    assertFalse(paid);
    assertBalance(500);
  }

  private void assertBalance(long wanted) {
    long balance = account.ask(new Balance());
    assertEquals(wanted, balance);
  }
}
