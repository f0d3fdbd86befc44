package io.fibry.bench.savina;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
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
 * A teller orders many payments between accounts, without waiting in between. An account handles no
 * other message until its payment is confirmed. Payments go to accounts with higher numbers, so no
 * accounts wait for each other. Size in Savina: 1,000 accounts, 50,000 transactions.
 */
final class Banking {
  private static final long INITIAL_BALANCE = 1_000_000;

  private Banking() {}

  static SavinaProgram program(int accounts, int payments) {
    return SavinaProgram.of("bank-transaction",
        SavinaProgram.size(accounts, "accounts, ") + SavinaProgram.size(payments, "transactions"),
        accounts * INITIAL_BALANCE,
        new ProgramSide("fibry", round -> fibry(Round.FIBERS, accounts, payments, round)),
        new ProgramSide("fibry-inline", round -> fibry(Round.INLINE, accounts, payments, round)),
        new ProgramSide("fibry-messages", round -> fibryMessages(accounts, payments, round)),
        new ProgramSide("pekko", round -> pekko(accounts, payments, round)),
        new ProgramSide("queues", round -> queues(accounts, payments, round)),
        new ProgramSide("hand", round -> hand(accounts, payments, round)));
  }

  /** The random payments, which are equal on all sides. */
  private static final class Orders {
    private final SplittableRandom random = new SplittableRandom(42);
    private final int accounts;
    private int payer;
    private int payee;
    private int amount;

    private Orders(int accounts) {
      this.accounts = accounts;
    }

    void next() {
      payer = random.nextInt(accounts * 8 / 10);
      payee = random.nextInt(payer + 1, accounts);
      amount = 1 + random.nextInt(1_000);
    }
  }

  private static final class Balance {
    long value = INITIAL_BALANCE;
  }

  // ---- Fibry: an account asks, and other messages wait in its mailbox

  private sealed interface FibryMessage {
    record Pay(long amount, Actor<FibryMessage> to) implements FibryMessage, Request<Pay, Long> {}

    record Deposit(long amount) implements FibryMessage, Request<Deposit, Long> {}

    record Read() implements FibryMessage, Request<Read, Long> {}
  }

  // with replyWhen(..) an account would handle other messages before the payment is confirmed
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

  private static void fibry(ActorBuilder<Object> builder, int accounts, int payments, Round round) {
    var actors = new ArrayList<Actor<FibryMessage>>();
    for (int i = 0; i < accounts; i++) actors.add(builder.initialState(Balance::new).newActor(Banking::handle));
    var orders = new Orders(accounts);
    var confirmations = new ArrayList<CompletableFuture<Long>>();
    for (int i = 0; i < payments; i++) {
      orders.next();
      confirmations.add(actors.get(orders.payer)
          .sendMessageReturn(new FibryMessage.Pay(orders.amount, actors.get(orders.payee))));
    }
    confirmations.forEach(CompletableFuture::join);
    long sum = 0;
    for (var account : actors) sum += account.ask(new FibryMessage.Read());
    round.setResult(sum);
  }

  // ---- Fibry, messages only: an account that waits stashes other messages

  private sealed interface TellMessage {
    record Pay(long amount, Actor<TellMessage> to, Actor<Long> replyTo) implements TellMessage {}

    record Deposit(long amount, Actor<TellMessage> replyTo) implements TellMessage {}

    enum Confirmed implements TellMessage { CONFIRMED }

    record Read(Actor<Long> replyTo) implements TellMessage {}
  }

  private static final class TellAccount {
    private final ArrayDeque<TellMessage> stash = new ArrayDeque<>();
    private long balance = INITIAL_BALANCE;
    private TellMessage.Pay openPayment; // the payment that is not confirmed yet, or null

    private void receive(TellMessage message, ActorContext<TellMessage> context) {
      if (message == TellMessage.Confirmed.CONFIRMED) {
        openPayment.replyTo.sendMessage(balance);
        openPayment = null;
        while (openPayment == null && !stash.isEmpty()) handle(stash.poll(), context.self());
      } else if (openPayment != null) stash.add(message);
      else handle(message, context.self());
    }

    private void handle(TellMessage message, Actor<TellMessage> self) {
      switch (message) {
        case TellMessage.Pay pay -> {
          balance -= pay.amount;
          openPayment = pay;
          pay.to.sendMessage(new TellMessage.Deposit(pay.amount, self));
        }
        case TellMessage.Deposit deposit -> {
          balance += deposit.amount;
          deposit.replyTo.sendMessage(TellMessage.Confirmed.CONFIRMED);
        }
        case TellMessage.Read read -> read.replyTo.sendMessage(balance);
        case TellMessage.Confirmed confirmed -> throw new AssertionError(confirmed);
      }
    }
  }

  private static final class Teller {
    private int replies;
    private long sum;
  }

  private static void fibryMessages(int accounts, int payments, Round round) {
    var actors = new ArrayList<Actor<TellMessage>>();
    for (int i = 0; i < accounts; i++)
      actors.add(Round.FIBERS.initialState(TellAccount::new).newActor(TellAccount::receive));
    var teller = Round.FIBERS.initialState(Teller::new)
        .newActor((Teller state, Long value, ActorContext<Long> context) -> {
          if (++state.replies == payments)
            for (var account : actors) account.sendMessage(new TellMessage.Read(context.self()));
          if (state.replies > payments) state.sum += value;
          if (state.replies == payments + accounts) round.setResult(state.sum);
        });
    var orders = new Orders(accounts);
    for (int i = 0; i < payments; i++) {
      orders.next();
      actors.get(orders.payer).sendMessage(new TellMessage.Pay(orders.amount, actors.get(orders.payee), teller));
    }
  }

  // ---- Pekko: a waiting account stashes messages

  private sealed interface PekkoMessage {
    record Pay(long amount, ActorRef<PekkoMessage> to, ActorRef<Long> replyTo) implements PekkoMessage {}

    record Deposit(long amount, ActorRef<PekkoMessage> replyTo) implements PekkoMessage {}

    enum Confirmed implements PekkoMessage { CONFIRMED }

    record Read(ActorRef<Long> replyTo) implements PekkoMessage {}
  }

  /** Has its own stash, because Pekko's unstashAll(..) would move all messages at each payment. */
  private static final class PekkoAccount {
    private final ActorRef<PekkoMessage> self;
    private final ArrayDeque<PekkoMessage> stash = new ArrayDeque<>();
    private long balance = INITIAL_BALANCE;
    private PekkoMessage.Pay openPayment; // the payment that is not confirmed yet, or null

    private PekkoAccount(ActorRef<PekkoMessage> self) {
      this.self = self;
    }

    Behavior<PekkoMessage> receive(PekkoMessage message) {
      if (message == PekkoMessage.Confirmed.CONFIRMED) {
        openPayment.replyTo.tell(balance);
        openPayment = null;
        while (openPayment == null && !stash.isEmpty()) handle(stash.poll());
      } else if (openPayment != null) stash.add(message);
      else handle(message);
      return Behaviors.same();
    }

    private void handle(PekkoMessage message) {
      switch (message) {
        case PekkoMessage.Pay pay -> {
          balance -= pay.amount;
          openPayment = pay;
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
    round.spawn(Behaviors.<Long>setup(context -> {
      var refs = new ArrayList<ActorRef<PekkoMessage>>();
      for (int i = 0; i < accounts; i++) refs.add(context.spawnAnonymous(
          Behaviors.setup(account -> Behaviors.receiveMessage(new PekkoAccount(account.getSelf())::receive))));
      var orders = new Orders(accounts);
      for (int i = 0; i < payments; i++) {
        orders.next();
        refs.get(orders.payer).tell(new PekkoMessage.Pay(orders.amount, refs.get(orders.payee), context.getSelf()));
      }
      var replies = new int[1];
      var sum = new long[1];
      return Behaviors.receiveMessage(value -> {
        if (++replies[0] == payments) for (var account : refs) account.tell(new PekkoMessage.Read(context.getSelf()));
        if (replies[0] > payments) sum[0] += value;
        if (replies[0] == payments + accounts) round.setResult(sum[0]);
        return Behaviors.same();
      });
    }));
  }

  // ---- queues: each account has a second queue, for confirmations

  private sealed interface QueueMessage {
    record Pay(long amount, BlockingQueue<QueueMessage> to, BlockingQueue<Long> replyTo) implements QueueMessage {}

    record Deposit(long amount, BlockingQueue<Long> replyTo) implements QueueMessage {}

    record Read(BlockingQueue<Long> replyTo) implements QueueMessage {}
  }

  private static BlockingQueue<QueueMessage> openAccount(Round round) {
    var queue = new LinkedTransferQueue<QueueMessage>();
    var confirmations = new LinkedTransferQueue<Long>();
    var balance = new Balance();
    round.serve(queue, message -> {
      switch (message) {
        case QueueMessage.Pay pay -> {
          balance.value -= pay.amount;
          pay.to.put(new QueueMessage.Deposit(pay.amount, confirmations));
          confirmations.take();
          pay.replyTo.put(balance.value);
        }
        case QueueMessage.Deposit deposit -> deposit.replyTo.put(balance.value += deposit.amount);
        case QueueMessage.Read read -> read.replyTo.put(balance.value);
      }
    });
    return queue;
  }

  private static void queues(int accounts, int payments, Round round) throws InterruptedException {
    var mailboxes = new ArrayList<BlockingQueue<QueueMessage>>();
    for (int i = 0; i < accounts; i++) mailboxes.add(openAccount(round));
    var orders = new Orders(accounts);
    var teller = new LinkedTransferQueue<Long>();
    for (int i = 0; i < payments; i++) {
      orders.next();
      mailboxes.get(orders.payer).put(new QueueMessage.Pay(orders.amount, mailboxes.get(orders.payee), teller));
    }
    for (int i = 0; i < payments; i++) teller.take();
    long sum = 0;
    for (var account : mailboxes) account.put(new QueueMessage.Read(teller));
    for (int i = 0; i < accounts; i++) sum += teller.take();
    round.setResult(sum);
  }

  // ---- by hand: an account parks until its payment is confirmed, and other messages wait

  private abstract static class HandMessage extends HandActor.Request<Long> {}

  private static final class HandPay extends HandMessage {
    private final long amount;
    private final HandActor<HandMessage> to;

    private HandPay(long amount, HandActor<HandMessage> to) {
      this.amount = amount;
      this.to = to;
    }
  }

  private static final class HandDeposit extends HandMessage {
    private final long amount;

    private HandDeposit(long amount) {
      this.amount = amount;
    }
  }

  private static final class HandRead extends HandMessage {}

  private static void handleByHand(Balance balance, HandMessage message) throws InterruptedException {
    switch (message) {
      case HandPay pay -> {
        balance.value -= pay.amount;
        var deposit = new HandDeposit(pay.amount);
        pay.to.send(deposit);
        deposit.await();
        pay.reply(balance.value);
      }
      case HandDeposit deposit -> deposit.reply(balance.value += deposit.amount);
      default -> message.reply(balance.value);
    }
  }

  private static void hand(int accounts, int payments, Round round) throws InterruptedException {
    var actors = new ArrayList<HandActor<HandMessage>>();
    for (int i = 0; i < accounts; i++) {
      var balance = new Balance();
      actors.add(HandActor.start(round, message -> handleByHand(balance, message)));
    }
    var orders = new Orders(accounts);
    var payRequests = new ArrayList<HandPay>();
    for (int i = 0; i < payments; i++) {
      orders.next();
      var pay = new HandPay(orders.amount, actors.get(orders.payee));
      actors.get(orders.payer).send(pay);
      payRequests.add(pay);
    }
    for (var pay : payRequests) pay.await();
    long sum = 0;
    for (var account : actors) {
      var read = new HandRead();
      account.send(read);
      sum += read.await();
    }
    round.setResult(sum);
  }
}
