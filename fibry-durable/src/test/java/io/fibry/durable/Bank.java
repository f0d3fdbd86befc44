package io.fibry.durable;

import io.fibry.Request;

/** Durable accounts that store events. */
final class Bank {
  sealed interface Message {}

  record Deposit(long cents) implements Message {}

  record Withdraw(long cents) implements Message, Request<Withdraw, Boolean> {}

  record Balance() implements Message, Request<Balance, Long> {}

  /** Persists an event, replies, and then throws. */
  record Fail(long cents) implements Message, Request<Fail, Long> {}

  record End() implements Message {}

  sealed interface Event {}

  record Deposited(long cents) implements Event {}

  record Withdrawn(long cents) implements Event {}

  static final Durable<Message> ACCOUNT =
      Durable.kind("account", Message.class).events(Event.class, 0L, Bank::after).handler(Bank::handle);

  private Bank() {}

  static Long after(Long cents, Event event) {
    return switch (event) {
      case Deposited d -> cents + d.cents();
      case Withdrawn w -> cents - w.cents();
    };
  }

  static void handle(Long cents, Message message, EventSourcedContext<Long, Event, Message> context) {
    switch (message) {
      case Deposit d -> context.persist(new Deposited(d.cents()));
      case Withdraw w -> {
        boolean enough = cents >= w.cents();
        if (enough) context.persist(new Withdrawn(w.cents()));
        context.reply(w, enough);
      }
      case Balance b -> context.reply(b, cents);
      case Fail f -> {
        context.persist(new Deposited(f.cents()));
        context.reply(f, f.cents());
        throw new IllegalStateException("made up, for a test");
      }
      case End e -> context.erase();
    }
  }
}
