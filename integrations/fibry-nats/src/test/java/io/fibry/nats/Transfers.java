package io.fibry.nats;

import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.durable.Durable;
import io.fibry.durable.DurableContext;
import io.fibry.durable.Idempotent;
import io.fibry.pool.Entities;
import io.fibry.store.StoreException;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.BooleanSupplier;

/**
 * Askers that transfer money between accounts while a test causes faults. They repeat each transfer
 * until it is answered. At the end, the balances must agree with the answers to the cent.
 */
final class Transfers implements AutoCloseable {
  sealed interface Account {}

  record Transfer(String idempotencyKey, String receiver, long cents)
      implements Account, Idempotent, Request<Transfer, Long> {}

  record Pay(long cents) implements Account {}

  record Sum() implements Account, Request<Sum, Long> {}

  static final Durable<Account> ACCOUNT =
      Durable.kind("account", Account.class).snapshotEvery(50).state(1_000L).handler(Transfers::handle);
  private static final int ACCOUNTS = 12;
  private static final int ASKERS = 8;
  private static final Duration LIMIT = Duration.ofSeconds(2);

  private final Entities<String, Account> accounts;
  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final AtomicLongArray expected = new AtomicLongArray(ACCOUNTS);
  private final AtomicInteger answerCount = new AtomicInteger();
  private final AtomicInteger failureCount = new AtomicInteger();
  private final AtomicBoolean stop = new AtomicBoolean(); // askers stop after their present transfer
  private volatile boolean isClosed;
  private final ExecutorService fibers = Executors.newVirtualThreadPerTaskExecutor();
  private final List<Future<?>> askers = new ArrayList<>();

  Transfers(Entities<String, Account> accounts) {
    this.accounts = accounts;
    System.out.println("transfers: -Dfibry.seed=" + seed);
    for (int i = 0; i < ACCOUNTS; i++) expected.set(i, 1_000);
    for (int i = 0; i < ASKERS; i++) {
      int asker = i;
      askers.add(fibers.submit(() -> run(asker)));
    }
  }

  private static long handle(long cents, Account message, DurableContext<Account> context) {
    return switch (message) {
      case Pay pay -> cents + pay.cents();
      case Transfer transfer -> {
        context.sendMessage(ACCOUNT, transfer.receiver(), new Pay(transfer.cents()));
        context.reply(transfer, cents - transfer.cents());
        yield cents - transfer.cents();
      }
      case Sum sum -> {
        context.reply(sum, cents);
        yield cents;
      }
    };
  }

  private void run(int asker) {
    var random = new Random(seed + asker);
    for (int i = 0; !stop.get(); i++) {
      int payer = random.nextInt(ACCOUNTS);
      int payee = random.nextInt(ACCOUNTS);
      long cents = random.nextInt(100);
      var transfer = new Transfer(asker + "-" + i, "a" + payee, cents);
      while (!isAnswered("a" + payer, transfer)) {
        failureCount.incrementAndGet();
        if (isClosed) return;
      }
      expected.addAndGet(payer, -cents);
      expected.addAndGet(payee, cents);
      answerCount.incrementAndGet();
    }
  }

  private boolean isAnswered(String payer, Transfer transfer) {
    try {
      accounts.actor(payer).ask(transfer, LIMIT);
      return true;
    } catch (RequestException | CancellationException | StoreException failure) {
      return false;
    }
  }

  int answerCount() {
    return answerCount.get();
  }

  /** Waits until that many more transfers are answered. */
  void awaitMore(int count) {
    int countBefore = answerCount();
    await(answerCount, () -> answerCount() >= countBefore + count);
  }

  /** Waits until that many more requests have failed, which shows that no call hangs. */
  void awaitFailures(int count) {
    int countBefore = failureCount.get();
    await(failureCount, () -> failureCount.get() >= countBefore + count);
  }

  /** Waits until the condition holds. Fails if the count no longer grows. */
  private void await(AtomicInteger count, BooleanSupplier condition) {
    Patience.progress(
        "the condition never came true; " + answerCount + " answered, " + failureCount + " failed, -Dfibry.seed="
            + seed,
        count::get, () -> {
          for (var asker : askers)
            if (asker.isDone() && !stop.get()) throw new AssertionError("an asker has ended", failure(asker));
          return condition.getAsBoolean();
        });
  }

  private static Throwable failure(Future<?> asker) {
    return asker.state() == Future.State.FAILED ? asker.exceptionNow() : null;
  }

  /** Checks that the balances contain all answered transfers, and no others. */
  void check() {
    stop.set(true);
    askers.forEach(Patience::value);
    for (int i = 0; i < ACCOUNTS; i++) {
      int account = i;
      await(answerCount, () -> balance(account) == expected.get(account)); // sent messages may not have arrived yet
    }
    System.out.println(answerCount + " transfers answered, " + failureCount + " retried");
  }

  private long balance(int account) {
    try {
      return accounts.actor("a" + account).ask(new Sum(), LIMIT);
    } catch (RequestException | CancellationException | StoreException failure) {
      return Long.MIN_VALUE;
    }
  }

  @Override
  public void close() {
    stop.set(true);
    isClosed = true;
    fibers.shutdownNow();
  }
}
