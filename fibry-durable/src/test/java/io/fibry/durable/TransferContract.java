package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.pool.Entities;
import io.fibry.store.StoreException;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * Money moves between accounts, by messages of turns, kept messages and reminders, while actors are
 * killed and the process ends again and again. No cent is lost or made, and each answered payment
 * was done once.
 */
abstract class TransferContract extends StoreFixture {
  TransferContract(TestStores.Maker maker) {
    super(maker);
  }

  private static final int ACCOUNTS = 6;
  private static final int SENDERS = 3;
  private static final int CRASHES = Soak.ON ? 40 : 2;
  private static final int PAYMENTS = Soak.ON ? 150 : 60; // of a sender between two crashes
  private static final long BEGINNING = 1_000;

  sealed interface Message {}

  /** The answer is the number of payments including this one. */
  record Pay(String idempotencyKey, String to, long cents, boolean later)
      implements Message, Idempotent, Request<Pay, Long> {}

  record Take(long cents) implements Message {}

  /** Reminds the payer of a payment that comes later. */
  record Due(String to, long cents) implements Message {}

  record Look() implements Message, Request<Look, Account> {}

  /** @param onItsWay cents that will be paid later */
  record Account(long cents, long onItsWay, long payments) {}

  @Override
  Scheduler scheduler() {
    return Scheduler.system();
  }

  @Override
  InstantSource instants() {
    return InstantSource.system();
  }

  private final Durable<Message> kind = Durable.kind("account", Message.class).storeMessages(10_000)
      .deduplicate(10_000, Duration.ofDays(1)).state(new Account(BEGINNING, 0, 0)).handler(this::handle);

  private Account handle(Account account, Message message, DurableContext<Message> context) {
    return switch (message) {
      case Pay pay -> {
        context.reply(pay, account.payments() + 1);
        if (pay.later())
          context.setReminder(pay.idempotencyKey(), new Due(pay.to(), pay.cents()), Duration.ofMillis(20));
        else context.sendMessage(this.kind, pay.to(), new Take(pay.cents()));
        long later = pay.later() ? pay.cents() : 0;
        yield new Account(account.cents() - pay.cents(), account.onItsWay() + later, account.payments() + 1);
      }
      case Take take -> new Account(account.cents() + take.cents(), account.onItsWay(), account.payments());
      case Due due -> {
        context.sendMessage(this.kind, due.to(), new Take(due.cents()));
        yield new Account(account.cents(), account.onItsWay() - due.cents(), account.payments());
      }
      case Look look -> {
        context.reply(look, account);
        yield account;
      }
    };
  }

  private Entities<String, Message> open(AtomicInteger number) {
    return kind.entities(scope.openScope("process" + number.incrementAndGet()).anonymous(), store, IDLE);
  }

  @Test
  void moneyStaysTheSame() throws Exception {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("transfers: -Dfibry.seed=" + seed);
    Map<String, Long> answered = new ConcurrentHashMap<>(); // by the account and the id of a payment
    var number = new AtomicInteger();
    for (int crash = 0; crash < CRASHES; crash++) {
      var process = open(number);
      var senders = new ArrayList<Thread>();
      for (int i = 0; i < SENDERS; i++) {
        var random = new Random(seed + 31L * crash + i);
        senders.add(Thread.ofVirtual().start(() -> pay(process, random, answered)));
      }
      var random = new Random(seed - crash);
      for (int i = 0; i < 5; i++) {
        process.actor("a" + random.nextInt(ACCOUNTS)).kill();
        Thread.yield();
      }
      if (random.nextBoolean()) senders.forEach(Patience::joined);
      // Payments that are answered while files are copied may be missing in the copy
      var before = List.copyOf(answered.keySet());
      var after = crash(store);
      process.kill();
      senders.forEach(Patience::joined);
      answered.keySet().retainAll(before);
      store = after;
    }
    check(open(number), answered, seed);
  }

  private static void pay(Entities<String, Message> accounts, Random random, Map<String, Long> answered) {
    for (int i = 0; i < PAYMENTS; i++) {
      String from = "a" + random.nextInt(ACCOUNTS);
      var pay = new Pay("p" + random.nextInt(100_000), "a" + random.nextInt(ACCOUNTS), 1 + random.nextInt(9),
          random.nextInt(4) == 0);
      try {
        var account = accounts.actor(from);
        if (random.nextInt(3) == 0) account.sendMessage(pay);
        else {
          long payments = account.ask(pay);
          var before = answered.putIfAbsent(from + " " + pay.idempotencyKey(), payments);
          if (before != null) assertEquals(before, payments, from + " " + pay.idempotencyKey());
        }
      } catch (RequestException | StoreException | CancellationException unknown) {
        // it may have been done, or may be done later
      }
    }
  }

  private void check(Entities<String, Message> accounts, Map<String, Long> answered, long seed)
      throws InterruptedException {
    eventually(() -> {
      List<Instant> waiting = new ArrayList<>();
      store.forEachPending("account", (id, due) -> waiting.add(due));
      return waiting.isEmpty();
    });
    long sum = 0;
    long onItsWay = 0;
    for (int i = 0; i < ACCOUNTS; i++) {
      var account = accounts.actor("a" + i).ask(new Look());
      onItsWay += account.onItsWay();
      sum += account.cents();
    }
    for (var aside : kind.parked(store)) { // a message that many processes have begun, each of which was ended
      assertEquals("it was begun 5 times, and each time the process ended", aside.reason(), "seed " + seed);
      if (aside.message() instanceof Take take) sum += take.cents();
      if (aside.message() instanceof Due due) {
        sum += due.cents();
        onItsWay -= due.cents();
      }
    }
    assertEquals(0, onItsWay, "seed " + seed);
    assertEquals(ACCOUNTS * BEGINNING, sum, "seed " + seed);
    answered.forEach((payment, payments) -> {
      var parts = payment.split(" ");
      assertEquals(payments, accounts.actor(parts[0]).ask(new Pay(parts[1], "a0", 1, false)),
          payment + " seed " + seed);
    });
    accounts.close();
    Histories.check(store, "account");
  }
}
