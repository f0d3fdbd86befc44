package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.durable.DurableContext;
import io.fibry.examples.files.Folder;
import io.fibry.store.folder.FolderStore;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;

/** A cart that reminds itself after a day, even if the process has ended in between. */
class Reminders {
  sealed interface Message {}
  record Add(String item) implements Message, Request<Add, Integer> {}
  record Forgotten() implements Message {}

  record Cart(List<String> items) {
    Cart with(String item) {
      return new Cart(Stream.concat(items.stream(), Stream.of(item)).toList());
    }
  }

  static final Duration DAY = Duration.ofDays(1);
  static final BlockingQueue<String> MAILS = new LinkedBlockingQueue<>();
  static final Durable<Message> CART =
      Durable.kind("cart", Message.class).state(new Cart(List.of())).handler(Reminders::handle);

  static Cart handle(Cart cart, Message message, DurableContext<Message> context) {
    return switch (message) {
      case Add add -> {
        context.setReminder("forgotten", new Forgotten(), DAY); // replaces the previous reminder
        context.reply(add, cart.items().size() + 1);
        yield cart.with(add.item());
      }
      case Forgotten forgotten -> {
        context.afterCommit(() -> MAILS.add(context.key() + " has forgotten " + cart.items()));
        yield cart;
      }
    };
  }

  public static void main(String[] args) throws Exception {
    try (var folder = Folder.of(args)) {
      try (var store = FolderStore.open(folder.path());
          var carts = CART.entities(ActorSystem.anonymous(), store, Duration.ofMinutes(5))) {
        System.out.println("in the cart: " + carts.actor("ada").ask(new Add("a book")));
      }
      var nextDay = Clock.offset(Clock.systemUTC(), DAY);
      try (var store = FolderStore.open(folder.path(), options -> options.withClock(nextDay));
          var carts = CART.entities(ActorSystem.anonymous(), store, Duration.ofMinutes(5))) {
        System.out.println(MAILS.take() + "; awake: " + carts.size());
      }
    }
  }
}
