package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.pool.Entities;
import io.fibry.simulation.SimulatedNode;
import io.fibry.simulation.Simulation;
import io.fibry.store.Store;
import io.fibry.store.StoreException;
import io.fibry.store.folder.FolderStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Money goes between accounts in a folder, by messages of turns, kept messages and reminders, while
 * actors are killed and the machine crashes. No cent is lost or made, and a payment that was
 * answered is answered the same again.
 */
final class TransferRound {
  private static final int ACCOUNTS = 4;
  private static final int SENDERS = 3;
  private static final int PAYMENTS = 10; // of a sender between two crashes
  private static final int IDS = 40; // few, so that some payments come twice
  private static final long BEGINNING = 1_000;
  private static final int LATER = 20; // ms
  private static final Duration IDLE = Duration.ofMillis(100);
  private static final Duration LONG = Duration.ofMinutes(10);

  sealed interface Message {}

  /** The answer is the number of payments including this one. */
  record Pay(String idempotencyKey, String to, long cents, boolean later)
      implements Message, Idempotent, Request<Pay, Long> {}

  record Take(long cents) implements Message {}

  /** Reminds the payer of a payment that comes later. */
  record Due(String to, long cents) implements Message {}

  record Look() implements Message, Request<Look, Account> {}

  /** @param promised cents that will be paid later */
  record Account(long cents, long promised, long payments) {}

  private final Simulation simulation;
  private final SplittableRandom random;
  private final Durable<Message> kind = Durable.kind("account", Message.class).storeMessages(10_000)
      .state(new Account(BEGINNING, 0, 0)).handler(this::handle);
  private final Map<String, Long> answered = new TreeMap<>(); // by the account and the id of a payment
  private final List<String> faults = new ArrayList<>();
  private SimulatedNode node;
  private boolean isOver;

  TransferRound(Simulation simulation) {
    this.simulation = simulation;
    this.random = simulation.random().split();
  }

  private Account handle(Account account, Message message, DurableContext<Message> context) {
    return switch (message) {
      case Pay pay -> {
        context.reply(pay, account.payments() + 1);
        if (pay.later())
          context.setReminder(pay.idempotencyKey(), new Due(pay.to(), pay.cents()), Duration.ofMillis(LATER));
        else context.sendMessage(this.kind, pay.to(), new Take(pay.cents()));
        long later = pay.later() ? pay.cents() : 0;
        yield new Account(account.cents() - pay.cents(), account.promised() + later, account.payments() + 1);
      }
      case Take take -> new Account(account.cents() + take.cents(), account.promised(), account.payments());
      case Due due -> {
        context.sendMessage(this.kind, due.to(), new Take(due.cents()));
        yield new Account(account.cents(), account.promised() - due.cents(), account.payments());
      }
      case Look look -> {
        context.reply(look, account);
        yield account;
      }
    };
  }

  void play() throws InterruptedException {
    node = simulation.node("bank");
    simulation.faults().withDelays(0.02, Duration.ofMillis(5)).withKills(0.01, actor -> true);
    for (int crashes = 1 + random.nextInt(3); crashes > 0; crashes--) {
      start(false);
      for (int points = random.nextInt(300); points > 0; points--) simulation.yieldPoint();
      if (random.nextBoolean()) Thread.sleep(random.nextInt(3 * LATER));
      node.crash();
      node = node.restart();
    }
    simulation.faults().stop();
    start(true);
    simulation.assertEventually("all is checked", LONG, () -> isOver);
  }

  private void start(boolean last) {
    var here = node;
    here.start("open", () -> {
      var store = FolderStore.open(here.disk(), options -> options.withSegmentBytes(4_096));
      var accounts = kind.entities(here.openScope("bank").anonymous(), store, IDLE);
      if (last) check(store, accounts);
      else for (int i = 0; i < SENDERS; i++) {
        var own = random.split();
        here.start("sender" + i, () -> pay(accounts, own));
      }
      return null;
    });
  }

  private Object pay(Entities<String, Message> accounts, SplittableRandom own) {
    for (int i = 0; i < PAYMENTS; i++) {
      var pay = new Pay("p" + own.nextInt(IDS), "a" + own.nextInt(ACCOUNTS), 1 + own.nextInt(9), own.nextInt(4) == 0);
      String from = "a" + own.nextInt(ACCOUNTS);
      if (own.nextInt(3) == 0) accounts.actor(from).sendMessage(pay);
      else try {
        answered(from, pay, accounts.actor(from).ask(pay));
      } catch (RequestException | StoreException unknown) {
        // it may be done, or be done later
      }
    }
    return null;
  }

  private void answered(String from, Pay pay, long payments) {
    var before = answered.putIfAbsent(from + " " + pay.idempotencyKey(), payments);
    if (before != null && before != payments)
      faults.add(pay.idempotencyKey() + " of " + from + " was answered " + before + ", and then " + payments);
  }

  private void check(Store store, Entities<String, Message> accounts) throws InterruptedException {
    awaitNone(store);
    for (var one : kind.parked(store)) kind.retry(store, one); // begun too often, by actors that were killed
    awaitNone(store);
    long sum = 0;
    for (int i = 0; i < ACCOUNTS; i++) {
      var account = accounts.actor("a" + i).ask(new Look());
      assertEquals(0, account.promised(), "a" + i);
      sum += account.cents();
    }
    assertEquals(ACCOUNTS * BEGINNING, sum);
    for (var payment : List.copyOf(answered.keySet())) {
      var parts = payment.split(" ");
      var again = new Pay(parts[1], "a0", 1, false);
      answered(parts[0], again, accounts.actor(parts[0]).ask(again));
    }
    assertEquals(List.of(), faults);
    accounts.close();
    store.close();
    isOver = true;
  }

  private void awaitNone(Store store) throws InterruptedException {
    simulation.assertEventually("no message waits", LONG, () -> {
      var waiting = new ArrayList<Instant>();
      store.forEachPending("account", (id, due) -> {
        if (due.isBefore(Store.PendingMessage.NEVER)) waiting.add(due); // it is not aside
      });
      return waiting.isEmpty();
    });
  }
}
