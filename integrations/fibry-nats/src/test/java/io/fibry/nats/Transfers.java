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
 * Askers that move money between accounts, each transfer again and again until it is answered,
 * while a test makes trouble. The sums at the end must agree with the answers, to the cent.
 */
final class Transfers implements AutoCloseable {
  sealed interface Account {}

  record Transfer(String idempotencyKey, String to, long cents)
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
  private final AtomicInteger answered = new AtomicInteger();
  private final AtomicInteger failed = new AtomicInteger();
  private final AtomicBoolean end = new AtomicBoolean(); // after what is asked now
  private volatile boolean over;
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
        context.sendMessage(ACCOUNT, transfer.to(), new Pay(transfer.cents()));
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
    for (int i = 0; !end.get(); i++) {
      int from = random.nextInt(ACCOUNTS);
      int to = random.nextInt(ACCOUNTS);
      long cents = random.nextInt(100);
      var transfer = new Transfer(asker + "-" + i, "a" + to, cents);
      while (!isAnswered("a" + from, transfer)) {
        failed.incrementAndGet();
        if (over) return;
      }
      expected.addAndGet(from, -cents);
      expected.addAndGet(to, cents);
      answered.incrementAndGet();
    }
  }

  private boolean isAnswered(String from, Transfer transfer) {
    try {
      accounts.actor(from).ask(transfer, LIMIT);
      return true;
    } catch (RequestException | CancellationException | StoreException again) {
      return false;
    }
  }

  int answered() {
    return answered.get();
  }

  /** So many more are answered. */
  void awaitMore(int more) {
    int before = answered();
    await(answered, () -> answered() >= before + more);
  }

  /** Waits until so many more fail, so that no call hangs. */
  void awaitFailures(int more) {
    int before = failed.get();
    await(failed, () -> failed.get() >= before + more);
  }

  /** Waits as long as the count grows. */
  private void await(AtomicInteger count, BooleanSupplier fact) {
    Patience.progress("it never came true; " + answered + " answered, " + failed + " failed, -Dfibry.seed=" + seed,
        count::get, () -> {
          for (var one : askers)
            if (one.isDone() && !end.get()) throw new AssertionError("an asker has ended", failure(one));
          return fact.getAsBoolean();
        });
  }

  private static Throwable failure(Future<?> one) {
    return one.state() == Future.State.FAILED ? one.exceptionNow() : null;
  }

  /** All that was answered, and nothing else, is in the accounts. */
  void check() {
    end.set(true);
    askers.forEach(Patience::value);
    for (int i = 0; i < ACCOUNTS; i++) {
      int account = i;
      await(answered, () -> sum(account) == expected.get(account)); // sent messages may not have arrived yet
    }
    System.out.println(answered + " transfers answered, " + failed + " tried again");
  }

  private long sum(int account) {
    try {
      return accounts.actor("a" + account).ask(new Sum(), LIMIT);
    } catch (RequestException | CancellationException | StoreException again) {
      return Long.MIN_VALUE;
    }
  }

  @Override
  public void close() {
    end.set(true);
    over = true;
    fibers.shutdownNow();
  }
}
