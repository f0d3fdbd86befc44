package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.durable.EventView;
import io.fibry.examples.files.Folder;
import io.fibry.store.Store;
import io.fibry.store.folder.FolderStore;
import java.time.Duration;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.LinkedBlockingQueue;

/** Two views of payments: one mails each payment once, the other adds up all payments. */
class Mails {
  record Pay(long cents) implements Request<Pay, Long> {}
  record Paid(long cents) {}

  static final Durable<Pay> ACCOUNT = Durable.kind("account", Pay.class)
      .events(Paid.class, 0L, (cents, event) -> cents + event.cents())
      .handler((cents, pay, context) -> context.reply(pay, context.persist(new Paid(pay.cents()))));
  static final EventView<Paid> PAYMENTS = Durable.view("account", Paid.class);

  public static void main(String[] args) throws Exception {
    try (var folder = Folder.of(args);
        var store = FolderStore.open(folder.path());
        var accounts = ACCOUNT.entities(ActorSystem.anonymous(), store, Duration.ofMinutes(5))) {
      var balances = new TreeMap<String, Long>();
      for (var name : List.of("ada", "bob", "ada"))
        balances.put(name, accounts.actor(name).ask(new Pay(name.equals("ada") ? 300 : 200)));
      mail(store, 3);
      System.out.println("paid in all: " + sums(store, balances));
    }
  }

  /** Runs a named view. Its offset is stored, so it continues after the last mailed payment. */
  private static void mail(Store store, int payments) throws InterruptedException {
    var sent = new LinkedBlockingQueue<String>();
    try (var views = ActorSystem.openScope("views")) {
      PAYMENTS.named("mails").newActor(views.anonymous(), store,
          stored -> sent.add("mail to " + stored.key() + ": you have paid " + stored.event().cents()));
      for (int i = 0; i < payments; i++) System.out.println(sent.take());
    }
  }

  /** Runs a view without a name, from the first event on, until its sums equal the balances. */
  private static TreeMap<String, Long> sums(Store store, TreeMap<String, Long> balances) throws InterruptedException {
    var sums = new TreeMap<String, Long>();
    var payments = new LinkedBlockingQueue<EventView.StoredEvent<Paid>>();
    try (var views = ActorSystem.openScope("views")) {
      PAYMENTS.newActor(views.anonymous(), store, payments::add);
      while (!sums.equals(balances)) {
        var stored = payments.take();
        sums.merge(stored.key(), stored.event().cents(), Long::sum);
      }
    }
    return sums;
  }
}
