package io.fibry.examples;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.mailbox.Mailbox;
import java.time.Duration;

/** A handler waits for a certain message; the other messages stay in the mailbox, in order. */
class SelectiveReceive {
  sealed interface Shop {}
  record Buy(int id, String item) implements Shop, Request<Buy, String> {}
  record Paid(int id) implements Shop {}

  public static void main(String[] args) {
    Actor<Shop> shop =
        ActorSystem.named("shop").mailbox(Mailbox.unbounded().selective()).newActor((message, context) -> {
          switch (message) {
            case Buy buy -> {
              var payment = context.receive(Paid.class, paid -> paid.id() == buy.id(), Duration.ofSeconds(10));
              context.reply(buy, payment.isPresent() ? "here is your " + buy.item() : "too late");
            }
            case Paid stray -> System.out.println("nobody bought " + stray.id());
          }
        });

    var reply = shop.sendMessageReturn(new Buy(1, "hat"));
    shop.sendMessage(new Paid(2)); // the payment of another order, handled later
    shop.sendMessage(new Paid(1));

    shop.close();
    System.out.println(reply.join());
  }
}
