package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.Exitable;
import io.fibry.Request;
import io.fibry.store.Store;
import io.fibry.store.folder.FolderStore;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
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
      .handler((cents, message, context) -> {
        switch (message) {
          case Deposit d -> context.persist(new Deposited(d.cents()));
          case Withdraw w -> {
            boolean enough = cents >= w.cents();
            if (enough) context.persist(new Withdrawn(w.cents()));
            context.reply(w, enough); // the answer is sent when the turn is on disk
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

  // @start region="waiting"
  sealed interface Step {}
  record Place(String item, long cents) implements Step {}
  record SayThanks() implements Step {}
  record Ship(String item, String receipt) {}

  static final Durable<Ship> PARCEL = Durable.kind("parcel", Ship.class).state("").handler((sent, ship) -> ship.item());

  static final Durable<Step> ORDER = Durable.kind("order", Step.class).storeMessages(1_000)
      .state("new").handler((state, step, context) -> switch (step) {
        case Place place -> {
          String receipt = context.step("charge", String.class,
              () -> charge(place.cents(), context.idempotencyKey("charge"))); // not run again once its result is stored
          context.sendMessage(PARCEL, context.key(), new Ship(place.item(), receipt)); // with this turn, or never
          context.setReminder("thanks", new SayThanks(), Duration.ofDays(7)); // even if the process ends
          yield "placed";
        }
        case SayThanks reminder -> "over";
      });
  // @end

  // @start region="follow"
  static final EventView<Event> EVENTS = Durable.view("account", Event.class);

  static Exitable startCounter(Store store, Map<String, Integer> withdrawals) {
    return EVENTS.named("withdrawals").newActor(ActorSystem.anonymous(), store, storedEvent -> {
      if (storedEvent.event() instanceof Withdrawn) withdrawals.merge(storedEvent.key(), 1, Integer::sum);
    });
  }
  // @end

  private static final List<String> CHARGED = new CopyOnWriteArrayList<>();

  private static String charge(long cents, String key) {
    CHARGED.add(key);
    return "receipt of " + cents;
  }

  @Test
  void orderStoresReminderAndMessageToParcel(@TempDir Path folder) throws Exception {
    var parcel = new Store.ActorId("parcel", "o1");
    try (var store = FolderStore.open(folder);
        var orders = ORDER.entities(ActorSystem.anonymous(), store, Duration.ofMinutes(5))) {
      assertTrue(orders.actor("o1").sendMessage(new Place("book", 1_500)));
    }
    try (var store = StoreBackend.of(FolderStore.open(folder))) {
      assertEquals(1, store.pending(parcel, Instant.MAX, 9).size());
      assertEquals(List.of("r:thanks"), store.load(new Store.ActorId("order", "o1")).pendingIds());
    }
    assertEquals(1, CHARGED.size());
    assertTrue(CHARGED.getFirst().startsWith("order/o1/m:"), CHARGED.getFirst());
  }

  @Test
  @SuppressWarnings("try") // the view is closed at the end of its block
  void viewCountsWithdrawals(@TempDir Path folder) {
    assertEquals(true, pay(folder));
    var withdrawals = new ConcurrentHashMap<String, Integer>();
    try (var store = FolderStore.open(folder); var view = startCounter(store, withdrawals)) {
      Patience.eventually(() -> !withdrawals.isEmpty());
    }
    assertEquals(true, pay(folder));
    try (var store = FolderStore.open(folder); var view = startCounter(store, withdrawals)) {
      Patience.eventually(() -> withdrawals.get("ada") >= 2);
    }

    assertEquals(Map.of("ada", 2), withdrawals);
  }

  @Test
  void accountIsReloadedFromReopenedStore(@TempDir Path folder) {
    assertEquals(true, pay(folder));
    assertEquals(true, pay(folder)); // 200 cents are left from the first call, and 500 are deposited
    assertEquals(true, pay(folder)); // 400 cents are left from the earlier calls, and 500 are deposited
    assertEquals(true, pay(folder));
  }
}
