package io.fibry.examples;

import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.Request;

/** A typed protocol: a sealed interface of records. A request declares the type of its answer. */
class Account {
  sealed interface Message {}
  record Deposit(long cents) implements Message {}
  record Withdraw(long cents) implements Message, Request<Withdraw, Boolean> {}
  record Balance() implements Message, Request<Balance, Long> {}

  private long cents;

  /** The compiler checks that the cases are complete, and that each answer has the right type. */
  void handle(Message message, ActorContext<Message> context) {
    switch (message) {
      case Deposit d -> cents += d.cents();
      case Withdraw w -> context.reply(w, withdraw(w.cents()));
      case Balance b -> context.reply(b, cents);
    }
  }

  private boolean withdraw(long amount) {
    if (amount > cents) return false;
    cents -= amount;
    return true;
  }

  public static void main(String[] args) {
    var account = ActorSystem.named("account").initialState(Account::new).newActor(Account::handle);

    account.sendMessage(new Deposit(500));
    boolean paid = account.ask(new Withdraw(200));
    boolean paidAgain = account.ask(new Withdraw(400));
    long balance = account.ask(new Balance());

    System.out.println("200 paid: " + paid + ", 400 paid: " + paidAgain + ", left: " + balance);
  }
}
