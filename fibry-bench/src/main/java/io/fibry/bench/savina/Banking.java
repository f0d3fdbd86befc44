package io.fibry.bench.savina;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.Request;
import io.fibry.bench.savina.SavinaProgram.ProgramSide;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedTransferQueue;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * A teller orders payments between accounts, all at once. An account does nothing else until its
 * payment is confirmed. Payments go to higher numbers, so no accounts wait for each other. Savina:
 * 1,000 accounts, 50,000 transactions.
 */
final class Banking {
  private static final long START = 1_000_000;

  private Banking() {}

  static SavinaProgram program(int accounts, int payments) {
    return SavinaProgram.of("bank-transaction",
        SavinaProgram.size(accounts, "accounts, ") + SavinaProgram.size(payments, "transactions"),
        accounts * START,
        new ProgramSide("fibry", round -> fibry(accounts, payments, round)),
        new ProgramSide("fibry-messages", round -> fibryMessages(accounts, payments, round)),
        new ProgramSide("pekko", round -> pekko(accounts, payments, round)),
        new ProgramSide("queues", round -> queues(accounts, payments, round)));
  }

  /** The payments; the same on all sides. */
  private static final class Orders {
    private final SplittableRandom random = new SplittableRandom(42);
    private final int accounts;
    private int from;
    private int to;
    private int amount;

    private Orders(int accounts) {
      this.accounts = accounts;
    }

    void next() {
      from = random.nextInt(accounts * 8 / 10);
      to = random.nextInt(from + 1, accounts);
      amount = 1 + random.nextInt(1_000);
    }
  }

  private static final class Balance {
    long value = START;
  }

  // ---- Fibry: an account asks, and other messages wait in its mailbox

  private sealed interface FibryMessage {
    record Pay(long amount, Actor<FibryMessage> to) implements FibryMessage, Request<Pay, Long> {}

    record Deposit(long amount) implements FibryMessage, Request<Deposit, Long> {}

    record Read() implements FibryMessage, Request<Read, Long> {}
  }

  // replyWhen(..) would not wait, so it would be no transaction
  private static void handle(Balance balance, FibryMessage message, ActorContext<FibryMessage> context) {
    switch (message) {
      case FibryMessage.Pay pay -> {
        balance.value -= pay.amount;
        pay.to.ask(new FibryMessage.Deposit(pay.amount));
        context.reply(pay, balance.value);
      }
      case FibryMessage.Deposit deposit -> context.reply(deposit, balance.value += deposit.amount);
      case FibryMessage.Read read -> context.reply(read, balance.value);
    }
  }

  private static void fibry(int accounts, int payments, Round round) {
    var all = new ArrayList<Actor<FibryMessage>>();
    for (int i = 0; i < accounts; i++) all.add(Round.FIBERS.initialState(Balance::new).newActor(Banking::handle));
    var orders = new Orders(accounts);
    var confirmed = new ArrayList<CompletableFuture<Long>>();
    for (int i = 0; i < payments; i++) {
      orders.next();
      confirmed.add(all.get(orders.from).sendMessageReturn(new FibryMessage.Pay(orders.amount, all.get(orders.to))));
    }
    confirmed.forEach(CompletableFuture::join);
    long sum = 0;
    for (var account : all) sum += account.ask(new FibryMessage.Read());
    round.done(sum);
  }

  // ---- Fibry without asking: an account that waits puts the others aside

  private sealed interface Told {
    record Pay(long amount, Actor<Told> to, Actor<Long> replyTo) implements Told {}

    record Deposit(long amount, Actor<Told> replyTo) implements Told {}

    enum Confirmed implements Told { CONFIRMED }

    record Read(Actor<Long> replyTo) implements Told {}
  }

  private static final class ToldAccount {
    private final ArrayDeque<Told> aside = new ArrayDeque<>();
    private long balance = START;
    private Told.Pay paying; // or null

    private void receive(Told message, ActorContext<Told> context) {
      if (message == Told.Confirmed.CONFIRMED) {
        paying.replyTo.sendMessage(balance);
        paying = null;
        while (paying == null && !aside.isEmpty()) handle(aside.poll(), context.self());
      } else if (paying != null) aside.add(message);
      else handle(message, context.self());
    }

    private void handle(Told message, Actor<Told> self) {
      switch (message) {
        case Told.Pay pay -> {
          balance -= pay.amount;
          paying = pay;
          pay.to.sendMessage(new Told.Deposit(pay.amount, self));
        }
        case Told.Deposit deposit -> {
          balance += deposit.amount;
          deposit.replyTo.sendMessage(Told.Confirmed.CONFIRMED);
        }
        case Told.Read read -> read.replyTo.sendMessage(balance);
        case Told.Confirmed confirmed -> throw new AssertionError(confirmed);
      }
    }
  }

  private static final class Teller {
    private int heard;
    private long sum;
  }

  private static void fibryMessages(int accounts, int payments, Round round) {
    var all = new ArrayList<Actor<Told>>();
    for (int i = 0; i < accounts; i++)
      all.add(Round.FIBERS.initialState(ToldAccount::new).newActor(ToldAccount::receive));
    var teller = Round.FIBERS.initialState(Teller::new)
        .newActor((Teller state, Long value, ActorContext<Long> context) -> {
          if (++state.heard == payments) for (var account : all) account.sendMessage(new Told.Read(context.self()));
          if (state.heard > payments) state.sum += value;
          if (state.heard == payments + accounts) round.done(state.sum);
        });
    var orders = new Orders(accounts);
    for (int i = 0; i < payments; i++) {
      orders.next();
      all.get(orders.from).sendMessage(new Told.Pay(orders.amount, all.get(orders.to), teller));
    }
  }

  // ---- Pekko: a waiting account stashes messages

  private sealed interface PekkoMessage {
    record Pay(long amount, ActorRef<PekkoMessage> to, ActorRef<Long> replyTo) implements PekkoMessage {}

    record Deposit(long amount, ActorRef<PekkoMessage> replyTo) implements PekkoMessage {}

    enum Confirmed implements PekkoMessage { CONFIRMED }

    record Read(ActorRef<Long> replyTo) implements PekkoMessage {}
  }

  /** With its own stash: unstashAll(..) would move all messages at each payment. */
  private static final class PekkoAccount {
    private final ActorRef<PekkoMessage> self;
    private final ArrayDeque<PekkoMessage> stash = new ArrayDeque<>();
    private long balance = START;
    private PekkoMessage.Pay paying; // or null

    private PekkoAccount(ActorRef<PekkoMessage> self) {
      this.self = self;
    }

    Behavior<PekkoMessage> receive(PekkoMessage message) {
      if (message == PekkoMessage.Confirmed.CONFIRMED) {
        paying.replyTo.tell(balance);
        paying = null;
        while (paying == null && !stash.isEmpty()) handle(stash.poll());
      } else if (paying != null) stash.add(message);
      else handle(message);
      return Behaviors.same();
    }

    private void handle(PekkoMessage message) {
      switch (message) {
        case PekkoMessage.Pay pay -> {
          balance -= pay.amount;
          paying = pay;
          pay.to.tell(new PekkoMessage.Deposit(pay.amount, self));
        }
        case PekkoMessage.Deposit deposit -> {
          balance += deposit.amount;
          deposit.replyTo.tell(PekkoMessage.Confirmed.CONFIRMED);
        }
        case PekkoMessage.Read read -> read.replyTo.tell(balance);
        case PekkoMessage.Confirmed confirmed -> throw new AssertionError(confirmed);
      }
    }
  }

  private static void pekko(int accounts, int payments, Round round) {
    round.pekko(Behaviors.<Long>setup(context -> {
      var all = new ArrayList<ActorRef<PekkoMessage>>();
      for (int i = 0; i < accounts; i++) all.add(context.spawnAnonymous(
          Behaviors.setup(account -> Behaviors.receiveMessage(new PekkoAccount(account.getSelf())::receive))));
      var orders = new Orders(accounts);
      for (int i = 0; i < payments; i++) {
        orders.next();
        all.get(orders.from).tell(new PekkoMessage.Pay(orders.amount, all.get(orders.to), context.getSelf()));
      }
      var heard = new int[1];
      var sum = new long[1];
      return Behaviors.receiveMessage(value -> {
        if (++heard[0] == payments) for (var account : all) account.tell(new PekkoMessage.Read(context.getSelf()));
        if (heard[0] > payments) sum[0] += value;
        if (heard[0] == payments + accounts) round.done(sum[0]);
        return Behaviors.same();
      });
    }));
  }

  // ---- queues, with another one for confirmations

  private sealed interface QueueMessage {
    record Pay(long amount, BlockingQueue<QueueMessage> to, BlockingQueue<Long> replyTo) implements QueueMessage {}

    record Deposit(long amount, BlockingQueue<Long> replyTo) implements QueueMessage {}

    record Read(BlockingQueue<Long> replyTo) implements QueueMessage {}
  }

  private static BlockingQueue<QueueMessage> account(Round round) {
    var queue = new LinkedTransferQueue<QueueMessage>();
    var confirmed = new LinkedTransferQueue<Long>();
    var balance = new Balance();
    round.serve(queue, order -> {
      switch (order) {
        case QueueMessage.Pay pay -> {
          balance.value -= pay.amount;
          pay.to.put(new QueueMessage.Deposit(pay.amount, confirmed));
          confirmed.take();
          pay.replyTo.put(balance.value);
        }
        case QueueMessage.Deposit deposit -> deposit.replyTo.put(balance.value += deposit.amount);
        case QueueMessage.Read read -> read.replyTo.put(balance.value);
      }
    });
    return queue;
  }

  private static void queues(int accounts, int payments, Round round) throws InterruptedException {
    var all = new ArrayList<BlockingQueue<QueueMessage>>();
    for (int i = 0; i < accounts; i++) all.add(account(round));
    var orders = new Orders(accounts);
    var teller = new LinkedTransferQueue<Long>();
    for (int i = 0; i < payments; i++) {
      orders.next();
      all.get(orders.from).put(new QueueMessage.Pay(orders.amount, all.get(orders.to), teller));
    }
    for (int i = 0; i < payments; i++) teller.take();
    long sum = 0;
    for (var account : all) account.put(new QueueMessage.Read(teller));
    for (int i = 0; i < accounts; i++) sum += teller.take();
    round.done(sum);
  }
}
