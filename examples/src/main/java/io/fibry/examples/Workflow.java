package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.durable.DurableContext;
import io.fibry.examples.files.Folder;
import io.fibry.store.folder.FolderStore;
import java.time.Clock;
import java.time.Duration;

/** An order that is charged, waits an hour, and is shipped, even if the process ends in between. */
class Workflow {
  sealed interface Message {}
  record Place(String item, long cents) implements Message {}
  record Status() implements Message, Request<Status, String> {}

  static final Durable<Message> ORDER =
      Durable.kind("order", Message.class).storeMessages(100).state("new").handler(Workflow::handle);

  static String handle(String status, Message message, DurableContext<Message> context) throws Exception {
    switch (message) {
      case Place place -> {
        var key = context.idempotencyKey("charge");
        String receipt = context.step("charge", String.class, () -> charge(place.cents(), key));
        context.sleep("change of mind", Duration.ofHours(1));
        return context.step("ship", String.class, () -> "shipped " + place.item() + " for " + receipt);
      }
      case Status request -> context.reply(request, status);
    }
    return status;
  }

  /** The key is the same when the step runs again, so the bank recognizes the call. */
  private static String charge(long cents, String key) {
    System.out.println("charges " + cents + " cents for order " + key.split("/")[1]);
    return "receipt 7";
  }
  public static void main(String[] args) throws Exception {
    try (var folder = Folder.of(args)) {
      try (var store = FolderStore.open(folder.path());
          var orders = ORDER.entities(ActorSystem.anonymous(), store, Duration.ofMinutes(5))) {
        String status = orders.actor("o1").ask(new Status());
        System.out.println("o1 is " + status);
        if (!status.equals("new")) return;
        orders.actor("o1").sendMessage(new Place("a book", 1_500)); // on disk when this returns true
        while (store.health().turns() < 3) Thread.sleep(1); // the message, the charge and the start of the sleep
        orders.kill(); // like a crash, while the handler sleeps
      }
      var later = Clock.offset(Clock.systemUTC(), Duration.ofHours(2));
      try (var store = FolderStore.open(folder.path(), options -> options.withClock(later));
          var orders = ORDER.entities(ActorSystem.anonymous(), store, Duration.ofMinutes(5))) {
        System.out.println("o1 is " + orders.actor("o1").ask(new Status()));
      }
    }
  }
}
