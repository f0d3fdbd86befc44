package io.fibry.examples;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.mailbox.Mailbox;
import java.time.Duration;

/** A handler waits for another message; the rest stay in the mailbox, in order. */
class SelectiveReceive {
  sealed interface Shop {}
  record Buy(int id, String what) implements Shop, Request<Buy, String> {}
  record Paid(int id) implements Shop {}

  public static void main(String[] args) {
    Actor<Shop> shop =
        ActorSystem.named("shop").mailbox(Mailbox.unbounded().selective()).newActor((message, context) -> {
          switch (message) {
            case Buy buy -> {
              var paid = context.receive(Paid.class, p -> p.id() == buy.id(), Duration.ofSeconds(10));
              context.reply(buy, paid.isPresent() ? "here is your " + buy.what() : "too late");
            }
            case Paid stray -> System.out.println("nobody bought " + stray.id());
          }
        });

    var hat = shop.sendMessageReturn(new Buy(1, "hat"));
    shop.sendMessage(new Paid(2)); // another payment, handled later
    shop.sendMessage(new Paid(1));

    shop.close();
    System.out.println(hat.join());
  }
}
