package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.codec.Codec;
import io.fibry.durable.Durable;
import io.fibry.examples.files.Folder;
import io.fibry.store.folder.FolderStore;
import java.util.List;
import java.util.stream.Stream;

/** Converts stored events of an earlier version of a program to the present form. */
class OldEvents {
  record Deposit(long cents, String currency) implements Request<Deposit, String> {}

  /** The earlier version of the program, which had only one currency. */
  static class Before {
    sealed interface Event {}
    record Deposited(long cents) implements Event {}

    static final Durable<Deposit> ACCOUNT = Durable.kind("account", Deposit.class)
        .events(Event.class, 0L, (sum, event) -> sum + ((Deposited) event).cents()).handler((sum, deposit, context) -> {
          context.reply(deposit, context.persist(new Deposited(deposit.cents())) + " cents");
        });
  }

  sealed interface Event {}
  record PaidIn(long cents, String currency) implements Event {}
  record DepositedOnce(long cents) {} // an old form: read, but no longer written

  static final Codec<Event> EVENTS = Codec.of(Event.class,
      forms -> forms.named(PaidIn.class, "Deposited") // the store keeps the old name of the class
          .readOld("Deposited", DepositedOnce.class, old -> new PaidIn(old.cents(), "EUR")));
  static final Durable<Deposit> ACCOUNT =
      Durable.kind("account", Deposit.class).events(EVENTS, List.<Event>of(), OldEvents::append)
          .handler((past, deposit, context) -> {
            context.reply(deposit, context.persist(new PaidIn(deposit.cents(), deposit.currency())).toString());
          });

  static List<Event> append(List<Event> past, Event event) {
    return Stream.concat(past.stream(), Stream.of(event)).toList();
  }

  public static void main(String[] args) throws Exception {
    try (var folder = Folder.of(args); var store = FolderStore.open(folder.path())) {
      try (var ada = Before.ACCOUNT.newActor(ActorSystem.named("ada"), store)) {
        System.out.println("before: " + ada.ask(new Deposit(500, "EUR")));
      }
      try (var ada = ACCOUNT.newActor(ActorSystem.named("ada"), store)) {
        System.out.println("today: " + ada.ask(new Deposit(20, "USD")));
      }
    }
  }
}
