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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * Tests that no cent is lost or created, and that each answered payment was made once. Money moves
 * between accounts by messages of turns, stored messages and reminders, while actors are killed and
 * the process crashes several times.
 */
abstract class TransferContract extends StoreFixture {
  TransferContract(TestStores.Maker maker) {
    super(maker);
  }

  private static final int ACCOUNTS = 6;
  private static final int SENDERS = 3;
  private static final int CRASHES = Soak.ON ? 40 : 2;
  private static final int PAYMENTS = Soak.ON ? 150 : 60; // number for each sender between two crashes
  private static final long INITIAL_CENTS = 1_000;

  sealed interface Message {}

  /** Pays money; the answer is the number of payments, including this payment. */
  record Pay(String idempotencyKey, String to, long cents, boolean later)
      implements Message, Idempotent, Request<Pay, Long> {}

  record Take(long cents) implements Message {}

  /** Reminds the payer of a delayed payment. */
  record Due(String to, long cents) implements Message {}

  record GetAccount() implements Message, Request<GetAccount, Account> {}

  /** @param delayedCents cents of delayed payments */
  record Account(long cents, long delayedCents, long payments) {}

  @Override
  Scheduler scheduler() {
    return Scheduler.system();
  }

  @Override
  InstantSource instants() {
    return InstantSource.system();
  }

  private final Durable<Message> kind = Durable.kind("account", Message.class).storeMessages(10_000)
      .deduplicate(10_000, Duration.ofDays(1)).state(new Account(INITIAL_CENTS, 0, 0)).handler(this::handle);

  private Account handle(Account account, Message message, DurableContext<Message> context) {
    return switch (message) {
      case Pay pay -> {
        context.reply(pay, account.payments() + 1);
        if (pay.later())
          context.setReminder(pay.idempotencyKey(), new Due(pay.to(), pay.cents()), Duration.ofMillis(20));
        else context.sendMessage(this.kind, pay.to(), new Take(pay.cents()));
        long laterCents = pay.later() ? pay.cents() : 0;
        yield new Account(account.cents() - pay.cents(), account.delayedCents() + laterCents, account.payments() + 1);
      }
      case Take take -> new Account(account.cents() + take.cents(), account.delayedCents(), account.payments());
      case Due due -> {
        context.sendMessage(this.kind, due.to(), new Take(due.cents()));
        yield new Account(account.cents(), account.delayedCents() - due.cents(), account.payments());
      }
      case GetAccount getAccount -> {
        context.reply(getAccount, account);
        yield account;
      }
    };
  }

  private Entities<String, Message> open(AtomicInteger processNumber) {
    return kind.entities(scope.openScope("process" + processNumber.incrementAndGet()).anonymous(), store, IDLE);
  }

  @Test
  void totalMoneyStaysConstantAcrossKillsAndCrashes() throws Exception {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("transfers: -Dfibry.seed=" + seed);
    Map<String, Long> answers = new ConcurrentHashMap<>(); // by the account and the id of the payment
    var processNumber = new AtomicInteger();
    for (int crash = 0; crash < CRASHES; crash++) {
      var process = open(processNumber);
      var senders = new ArrayList<CompletableFuture<Void>>();
      for (int i = 0; i < SENDERS; i++) {
        var random = new Random(seed + 31L * crash + i);
        senders.add(CompletableFuture.runAsync(() -> pay(process, random, answers), Patience::startFiber));
      }
      var random = new Random(seed - crash);
      for (int i = 0; i < 5; i++) {
        process.actor("a" + random.nextInt(ACCOUNTS)).kill();
        Thread.yield();
      }
      if (random.nextBoolean()) senders.forEach(Patience::value);
      // Payments that are answered while files are copied may be missing in the copy
      var answeredBeforeCrash = List.copyOf(answers.keySet());
      var newStore = crash(store);
      process.kill();
      senders.forEach(Patience::value);
      answers.keySet().retainAll(answeredBeforeCrash);
      store = newStore;
    }
    check(open(processNumber), answers, seed);
  }

  private static void pay(Entities<String, Message> accounts, Random random, Map<String, Long> answers) {
    for (int i = 0; i < PAYMENTS; i++) {
      String payer = "a" + random.nextInt(ACCOUNTS);
      var payment = new Pay("p" + random.nextInt(100_000), "a" + random.nextInt(ACCOUNTS), 1 + random.nextInt(9),
          random.nextInt(4) == 0);
      try {
        var account = accounts.actor(payer);
        if (random.nextInt(3) == 0) account.sendMessage(payment);
        else {
          long payments = account.ask(payment);
          var firstAnswer = answers.putIfAbsent(payer + " " + payment.idempotencyKey(), payments);
          if (firstAnswer != null) assertEquals(firstAnswer, payments, payer + " " + payment.idempotencyKey());
        }
      } catch (RequestException | StoreException | CancellationException failure) {
        // the payment may have been made, or may be made later
      }
    }
  }

  private void check(Entities<String, Message> accounts, Map<String, Long> answers, long seed)
      throws InterruptedException {
    eventually(() -> {
      List<Instant> dueTimes = new ArrayList<>();
      store.forEachPending("account", (id, due) -> dueTimes.add(due));
      return dueTimes.isEmpty();
    });
    long sum = 0;
    long delayedCents = 0;
    for (int i = 0; i < ACCOUNTS; i++) {
      var account = accounts.actor("a" + i).ask(new GetAccount());
      delayedCents += account.delayedCents();
      sum += account.cents();
    }
    for (var parked : kind.parked(store)) { // five restarted processes have ended while they handled this message
      assertEquals("it was begun 5 times after restarts, and each time the process ended", parked.reason(),
          "seed " + seed);
      if (parked.message() instanceof Take take) sum += take.cents();
      if (parked.message() instanceof Due due) {
        sum += due.cents();
        delayedCents -= due.cents();
      }
    }
    assertEquals(0, delayedCents, "seed " + seed);
    assertEquals(ACCOUNTS * INITIAL_CENTS, sum, "seed " + seed);
    answers.forEach((payment, payments) -> {
      var parts = payment.split(" ");
      assertEquals(payments, accounts.actor(parts[0]).ask(new Pay(parts[1], "a0", 1, false)),
          payment + " seed " + seed);
    });
    accounts.close();
    Histories.check(store, "account");
  }
}
