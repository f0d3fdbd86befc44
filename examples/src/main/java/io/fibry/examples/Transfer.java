package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.durable.DurableContext;
import io.fibry.examples.files.Folder;
import io.fibry.store.folder.FolderStore;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** A debit, its message to another account, and the answer are stored together, or not at all. */
class Transfer {
  sealed interface Message {}
  record Deposit(long cents) implements Message, Request<Deposit, Long> {}
  record Pay(String to, long cents) implements Message, Request<Pay, Boolean> {}
  record Credit(String from, long cents) implements Message {}
  record Balance() implements Message, Request<Balance, Long> {}

  static final Durable<Message> PURSE = Durable.kind("purse", Message.class).state(0L).handler(Transfer::handle);
  private static final BlockingQueue<String> NEWS = new LinkedBlockingQueue<>();

  static Long handle(Long cents, Message message, DurableContext<Message> context) {
    return switch (message) {
      case Deposit d -> {
        context.reply(d, cents + d.cents());
        yield cents + d.cents();
      }
      case Pay p -> {
        boolean enough = cents >= p.cents();
        context.reply(p, enough);
        if (!enough) yield cents; // the state is unchanged, so nothing is stored
        context.sendMessage(PURSE, p.to(), new Credit(context.key(), p.cents())); // arrives once, with this turn
        yield cents - p.cents();
      }
      case Credit c -> {
        context.afterCommit(() -> NEWS.add(context.key() + " got " + c.cents() + " from " + c.from()));
        yield cents + c.cents();
      }
      case Balance b -> {
        context.reply(b, cents);
        yield cents;
      }
    };
  }

  public static void main(String[] args) throws Exception {
    try (var folder = Folder.of(args);
        var store = FolderStore.open(folder.path());
        var purses = PURSE.entities(ActorSystem.anonymous(), store, Duration.ofMinutes(5))) {
      purses.actor("ada").ask(new Deposit(500));
      System.out.println("paid: " + purses.actor("ada").ask(new Pay("grace", 300)) + "\n" + NEWS.take());
      for (var name : new String[] {"ada", "grace"})
        System.out.println(name + " has " + purses.actor(name).ask(new Balance()));
    }
  }
}
