package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.durable.EventSourcedContext;
import io.fibry.examples.files.Folder;
import io.fibry.store.folder.FolderStore;
import java.time.Duration;

/** Accounts that store their events. An answer is sent when its event is on disk. */
class Bank {
  sealed interface Message {}
  record Deposit(long cents) implements Message, Request<Deposit, Long> {}
  record Withdraw(long cents) implements Message, Request<Withdraw, Boolean> {}

  sealed interface Event {}
  record Deposited(long cents) implements Event {}
  record Withdrawn(long cents) implements Event {}

  static final Durable<Message> ACCOUNT =
      Durable.kind("account", Message.class).events(Event.class, 0L, Bank::apply).handler(Bank::handle);

  /** Applies an event. This also happens when an account is loaded, so it must do nothing else. */
  static Long apply(Long cents, Event event) {
    return switch (event) {
      case Deposited d -> cents + d.cents();
      case Withdrawn w -> cents - w.cents();
    };
  }

  static void handle(Long cents, Message message, EventSourcedContext<Long, Event, Message> context) {
    switch (message) {
      case Deposit d -> context.reply(d, context.persist(new Deposited(d.cents())));
      case Withdraw w -> {
        boolean isCovered = cents >= w.cents();
        if (isCovered) context.persist(new Withdrawn(w.cents()));
        context.reply(w, isCovered);
      }
    }
  }

  public static void main(String[] args) throws Exception {
    try (var folder = Folder.of(args);
        var store = FolderStore.open(folder.path());
        var bank = ActorSystem.openScope("bank");
        var accounts = ACCOUNT.entities(bank.anonymous(), store, Duration.ofMinutes(5))) { // passivates idle accounts
      for (var name : new String[] {"ada", "grace"}) {
        var account = accounts.actor(name);
        long balance = account.ask(new Deposit(500));
        boolean paid = account.ask(new Withdraw(600));
        System.out.println(name + " has " + balance + ", 600 paid: " + paid);
      }
    }
  }
}
