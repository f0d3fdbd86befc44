package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.store.folder.FolderStore;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JavadocSnippetsTest {
  // @start region="durable"
  sealed interface Message {}
  record Deposit(long cents) implements Message {}
  record Withdraw(long cents) implements Message, Request<Withdraw, Boolean> {}

  sealed interface Event {}
  record Deposited(long cents) implements Event {}
  record Withdrawn(long cents) implements Event {}

  static final Durable<Message> ACCOUNT = Durable.kind("account", Message.class)
      .events(Event.class, 0L, (Long cents, Event event) -> switch (event) {
        case Deposited d -> cents + d.cents();
        case Withdrawn w -> cents - w.cents();
      })
      .by((cents, message, context) -> {
        switch (message) {
          case Deposit d -> context.persist(new Deposited(d.cents()));
          case Withdraw w -> {
            boolean enough = cents >= w.cents();
            if (enough) context.persist(new Withdrawn(w.cents()));
            context.reply(w, enough); // leaves when it is on disk
          }
        }
      });

  static boolean pay(Path folder) {
    try (var store = FolderStore.open(folder);
        var ada = ACCOUNT.newActor(ActorSystem.named("ada"), store)) {
      ada.sendMessage(new Deposit(500));
      return ada.ask(new Withdraw(300));
    }
  }
  // @end

  @Test
  void anAccountIsThereTheNextTime(@TempDir Path folder) {
    assertEquals(true, pay(folder));
    assertEquals(true, pay(folder)); // 200 and 500
    assertEquals(true, pay(folder)); // 400 and 500
    assertEquals(true, pay(folder));
  }
}
