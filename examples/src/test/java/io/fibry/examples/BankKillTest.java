package io.fibry.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.durable.Durable;
import io.fibry.pool.Entities;
import io.fibry.store.Store;
import io.fibry.store.folder.FolderStore;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Child;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that the examples' accounts, purses and carts survive repeated kills of their process under
 * load.
 */
class BankKillTest {
  private static final int ROUNDS = Integer.getInteger("fibry.kills", Soak.ON ? 3 : 2);
  private static final List<String> NAMES = List.of("ada", "alan", "barbara", "edsger", "grace");
  private static final long MONEY = 1_000; // in each purse

  /** The store and the actors of one process. */
  private record OpenBank(Store store, ActorScope scope, Entities<String, Bank.Message> accounts,
      Entities<String, Transfer.Message> purses, Entities<String, Reminders.Message> carts) implements AutoCloseable {

    static OpenBank open(Path folder, Clock clock) {
      var store = FolderStore.open(folder, options -> options.withSegmentBytes(1 << 20).withClock(clock));
      var scope = ActorSystem.openScope("bank");
      return new OpenBank(store, scope, entities(Bank.ACCOUNT, scope, store), entities(Transfer.PURSE, scope, store),
          entities(Reminders.CART, scope, store));
    }

    private static <M> Entities<String, M> entities(Durable<M> kind, ActorScope scope, Store store) {
      return kind.entities(scope.anonymous(), store, Duration.ofMinutes(5));
    }

    long money() {
      return NAMES.stream().mapToLong(name -> purses.actor(name).ask(new Transfer.Balance())).sum();
    }

    /** Returns whether each transfer has been handled. */
    boolean isSettled() {
      var pendingMessages = new AtomicInteger();
      StoreBackend.of(store).forEachPending("purse", (purse, due) -> pendingMessages.incrementAndGet());
      return pendingMessages.get() == 0;
    }

    @Override
    public void close() {
      scope.close();
      store.close();
    }
  }

  /** Deposits and transfers for ever, and prints the balance after each deposit. */
  static final class BankUnderLoad {
    public static void main(String[] args) {
      try (var bank = OpenBank.open(Path.of(args[0]), Clock.systemUTC());
          var clients = Executors.newVirtualThreadPerTaskExecutor()) {
        bank.carts.actor(args[1]).ask(new Reminders.Add("a book"));
        for (int i = 0; i < NAMES.size(); i++) {
          var name = NAMES.get(i);
          var receiver = NAMES.get((i + 1) % NAMES.size());
          clients.execute(() -> {
            while (true) print(name + " " + bank.accounts.actor(name).ask(new Bank.Deposit(1)));
          });
          clients.execute(() -> {
            while (true) bank.purses.actor(name).ask(new Transfer.Pay(receiver, 7));
          });
        }
      }
    }

    private static synchronized void print(String line) {
      System.out.println(line);
    }
  }

  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final Map<String, Long> printedBalances = new HashMap<>(); // by account

  @TempDir
  private Path folder;

  @Test
  void depositsAndRemindersSurviveRepeatedKills() throws Exception {
    System.out.println("kills: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    try (var bank = OpenBank.open(folder, Clock.systemUTC())) {
      for (var name : NAMES) bank.purses.actor(name).ask(new Transfer.Deposit(MONEY));
    }
    for (int round = 1; round <= ROUNDS; round++) {
      killAfter(50 + random.nextInt(600), "cart " + round);
      try (var bank = OpenBank.open(folder, Clock.offset(Clock.systemUTC(), Reminders.DAY))) {
        checkDeposits(bank);
        Patience.eventually(bank::isSettled);
        assertEquals(MONEY * NAMES.size(), bank.money(), "seed " + seed);
        assertEquals("cart " + round + " has forgotten [a book]", Patience.nextOf(Reminders.MAILS));
      }
      assertEquals(List.of(), List.copyOf(Reminders.MAILS));
    }
  }

  /**
   * Checks that the balances survived. One deposit to each account may be stored and not printed,
   * because its client waited for the answer when the process was killed. This method makes another
   * deposit.
   */
  private void checkDeposits(OpenBank bank) {
    for (var name : NAMES) {
      long printedBalance = printedBalances.getOrDefault(name, 0L);
      long balance = bank.accounts.actor(name).ask(new Bank.Deposit(1));
      assertTrue(balance == printedBalance + 1 || balance == printedBalance + 2,
          name + " printed the balance " + printedBalance
              + ", and has " + balance + " after one more deposit; seed " + seed);
      printedBalances.put(name, balance);
    }
  }

  private void killAfter(int answers, String cart) {
    try (var process = Child.java(List.of(), BankUnderLoad.class, folder.toString(), cart)) {
      Patience.progress("too few answers", () -> process.lines().size(),
          () -> process.lines().size() >= answers || !process.handle().isAlive());
      assertTrue(process.handle().isAlive(),
          () -> "the bank has ended by itself, seed " + seed + "\n" + process.output());
      process.handle().destroyForcibly(); // its output stays readable
      process.exitCode();
      process.lines().forEach(this::recordBalance); // the balances include lines printed after the check above
    }
  }

  /**
   * Stores the balance that a line shows. Other lines come from the JVM; the last line may be cut
   * off.
   */
  private void recordBalance(String line) {
    var parts = line.split(" ");
    if (parts.length == 2 && NAMES.contains(parts[0]))
      printedBalances.merge(parts[0], Long.parseLong(parts[1]), Math::max);
  }
}
