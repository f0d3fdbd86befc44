package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.pool.Entities;
import io.fibry.simulation.SimulatedNode;
import io.fibry.simulation.Simulation;
import io.fibry.store.StoreException;
import io.fibry.store.folder.FolderStore;
import io.fibry.store.spi.StoreBackend;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Accounts in a folder store transfer money to each other, at once or by a reminder. Meanwhile
 * actors are killed, and the machine crashes. No cent may be lost or created, and a repeated
 * payment must get the same answer.
 */
final class TransferRound {
  private static final int ACCOUNTS = 4;
  private static final int SENDERS = 3;
  private static final int PAYMENTS = 10; // payments of a sender between two crashes
  private static final int IDS = 40; // few, so that some payments are repeated
  private static final long INITIAL_CENTS = 1_000;
  private static final int DELAY = 20; // ms until a delayed payment
  private static final Duration IDLE = Duration.ofMillis(100);
  private static final Duration MAX_WAIT = Duration.ofMinutes(10);

  sealed interface Message {}

  /** A payment; the answer is the number of payments of the account, including this payment. */
  record Pay(String idempotencyKey, String payee, long cents, boolean isDelayed)
      implements Message, Idempotent, Request<Pay, Long> {}

  record Deposit(long cents) implements Message {}

  /** Reminds the payer of a delayed payment. */
  record DuePayment(String payee, long cents) implements Message {}

  record ReadAccount() implements Message, Request<ReadAccount, Account> {}

  /** @param promised cents of payments that are delayed */
  record Account(long cents, long promised, long payments) {}

  private final Simulation simulation;
  private final SplittableRandom random;
  private final Durable<Message> kind = Durable.kind("account", Message.class).storeMessages(10_000)
      .state(new Account(INITIAL_CENTS, 0, 0)).handler(this::handle);
  // The answers to payments, by account and id of the payment
  private final Map<String, Long> answers = new TreeMap<>();
  private final List<String> errors = new ArrayList<>();
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
        if (pay.isDelayed())
          context.setReminder(pay.idempotencyKey(), new DuePayment(pay.payee(), pay.cents()), Duration.ofMillis(DELAY));
        else context.sendMessage(this.kind, pay.payee(), new Deposit(pay.cents()));
        long delayed = pay.isDelayed() ? pay.cents() : 0;
        yield new Account(account.cents() - pay.cents(), account.promised() + delayed, account.payments() + 1);
      }
      case Deposit deposit -> new Account(account.cents() + deposit.cents(), account.promised(), account.payments());
      case DuePayment due -> {
        context.sendMessage(this.kind, due.payee(), new Deposit(due.cents()));
        yield new Account(account.cents(), account.promised() - due.cents(), account.payments());
      }
      case ReadAccount read -> {
        context.reply(read, account);
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
      if (random.nextBoolean()) Thread.sleep(random.nextInt(3 * DELAY));
      node.crash();
      node = node.restart();
    }
    simulation.faults().stop();
    start(true);
    simulation.assertEventually("all is checked", MAX_WAIT, () -> isOver);
  }

  private void start(boolean isLast) {
    var currentNode = node;
    currentNode.start("open", () -> {
      var store =
          StoreBackend.of(FolderStore.open(currentNode.disk(), options -> options.withSegmentBytes(4_096)));
      var accounts = kind.entities(currentNode.openScope("bank").anonymous(), store, IDLE);
      if (isLast) check(store, accounts);
      else for (int i = 0; i < SENDERS; i++) {
        var senderRandom = random.split();
        currentNode.start("sender" + i, () -> pay(accounts, senderRandom));
      }
      return null;
    });
  }

  private Object pay(Entities<String, Message> accounts, SplittableRandom senderRandom) {
    for (int i = 0; i < PAYMENTS; i++) {
      var pay = new Pay("p" + senderRandom.nextInt(IDS), "a" + senderRandom.nextInt(ACCOUNTS),
          1 + senderRandom.nextInt(9), senderRandom.nextInt(4) == 0);
      String payer = "a" + senderRandom.nextInt(ACCOUNTS);
      if (senderRandom.nextInt(3) == 0) accounts.actor(payer).sendMessage(pay);
      else try {
        recordAnswer(payer, pay, accounts.actor(payer).ask(pay));
      } catch (RequestException | StoreException unknown) {
        // the payment may be done now or later
      }
    }
    return null;
  }

  private void recordAnswer(String payer, Pay pay, long payments) {
    var previous = answers.putIfAbsent(payer + " " + pay.idempotencyKey(), payments);
    if (previous != null && previous != payments)
      errors.add(pay.idempotencyKey() + " of " + payer + " was answered " + previous + ", and then " + payments);
  }

  private void check(StoreBackend store, Entities<String, Message> accounts) throws InterruptedException {
    awaitNoPending(store);
    // These messages are parked because killed actors began them too often
    for (var message : kind.parked(store)) kind.retry(store, message);
    awaitNoPending(store);
    long sum = 0;
    for (int i = 0; i < ACCOUNTS; i++) {
      var account = accounts.actor("a" + i).ask(new ReadAccount());
      assertEquals(0, account.promised(), "a" + i);
      sum += account.cents();
    }
    assertEquals(ACCOUNTS * INITIAL_CENTS, sum);
    for (var payment : List.copyOf(answers.keySet())) {
      var parts = payment.split(" ");
      var repeated = new Pay(parts[1], "a0", 1, false);
      recordAnswer(parts[0], repeated, accounts.actor(parts[0]).ask(repeated));
    }
    assertEquals(List.of(), errors);
    accounts.close();
    store.close();
    isOver = true;
  }

  private void awaitNoPending(StoreBackend store) throws InterruptedException {
    simulation.assertEventually("no message is pending", MAX_WAIT, () -> {
      var dueTimes = new ArrayList<Instant>();
      store.forEachPending("account", (id, due) -> {
        if (due.isBefore(StoreBackend.PendingMessage.NEVER)) dueTimes.add(due); // the message is not parked
      });
      return dueTimes.isEmpty();
    });
  }
}
