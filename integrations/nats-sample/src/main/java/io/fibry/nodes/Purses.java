package io.fibry.nodes;

import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.durable.DurableContext;
import io.fibry.durable.Idempotent;

/** Purses with money. The definition does not mention nodes: it would also work in one process. */
final class Purses {
  sealed interface Message {}

  /** A payment to another purse. It is made once, even if it is requested repeatedly. */
  record Pay(String idempotencyKey, String to, long cents) implements Message, Idempotent, Request<Pay, Long> {}

  record Take(long cents) implements Message {}

  record Count() implements Message, Request<Count, Long> {}

  static final long INITIAL_CENTS = 1_000;
  static final Durable<Message> PURSE =
      Durable.kind("purse", Message.class).state(INITIAL_CENTS).handler(Purses::handle);

  private Purses() {}

  private static Long handle(Long balance, Message message, DurableContext<Message> context) {
    return switch (message) {
      case Pay pay -> {
        context.sendMessage(PURSE, pay.to(), new Take(pay.cents())); // stored together with the debit, or not at all
        context.reply(pay, balance - pay.cents());
        yield balance - pay.cents();
      }
      case Take take -> balance + take.cents();
      case Count count -> {
        context.reply(count, balance);
        yield balance;
      }
    };
  }
}
