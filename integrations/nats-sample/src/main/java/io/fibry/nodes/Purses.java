package io.fibry.nodes;

import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.durable.DurableContext;
import io.fibry.durable.Idempotent;

/** Purses with money. The definition knows of no nodes: it serves one process as well. */
final class Purses {
  sealed interface Message {}

  /** Answered once, however often it is asked. */
  record Pay(String idempotencyKey, String to, long cents) implements Message, Idempotent, Request<Pay, Long> {}

  record Take(long cents) implements Message {}

  record Count() implements Message, Request<Count, Long> {}

  static final long AT_FIRST = 1_000;
  static final Durable<Message> PURSE = Durable.kind("purse", Message.class).state(AT_FIRST).handler(Purses::handle);

  private Purses() {}

  private static Long handle(Long cents, Message message, DurableContext<Message> context) {
    return switch (message) {
      case Pay pay -> {
        context.sendMessage(PURSE, pay.to(), new Take(pay.cents())); // with the debit, or not at all
        context.reply(pay, cents - pay.cents());
        yield cents - pay.cents();
      }
      case Take take -> cents + take.cents();
      case Count count -> {
        context.reply(count, cents);
        yield cents;
      }
    };
  }
}
