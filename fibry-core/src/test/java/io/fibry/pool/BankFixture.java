package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorStats.ActorState;
import io.fibry.ActorSystem;
import io.fibry.AskTimeoutException;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.RecordedLetters;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * Entities for tests: accounts by name, on a manual clock. An account loads its balance when it is
 * created, and saves it when it ends.
 */
final class BankFixture implements AutoCloseable {
  sealed interface Order {}
  record Pay(int amount) implements Order {}
  record Balance() implements Order, Request<Balance, Integer> {}
  record ReplyLater(CompletableFuture<Integer> value) implements Order, Request<ReplyLater, Integer> {}
  record WaitAtGate(Gate gate) implements Order {}
  record AskExit() implements Order {}
  record Fail() implements Order {}

  static final Duration IDLE = Duration.ofMinutes(8);

  final RecordedLetters letters = new RecordedLetters();
  final ManualScheduler clock = new ManualScheduler();
  final Map<String, Integer> savedBalances = new ConcurrentHashMap<>();
  final List<String> events = new CopyOnWriteArrayList<>();
  final AtomicInteger liveAccounts = new AtomicInteger(); // accounts that were created and have not been saved
  final AtomicInteger balanceRequests = new AtomicInteger(); // handled requests for balances
  volatile Gate saveGate; // null if `save` does not wait at a gate
  final ActorScope scope;
  final Entities<String, Order> accounts;

  BankFixture(Strategy strategy) {
    scope = ActorSystem.openScope("bank",
        o -> o.withStrategy(strategy).withScheduler(clock).withDeadLetterListener(letters)
            .withKillGrace(Duration.ofMillis(1))
            .withAskLimit(IDLE.multipliedBy(1_000))); // so long that no advance of the clock ends an ask
    accounts = accountsIn(scope);
  }

  Entities<String, Order> accountsIn(ActorScope scope) {
    return Entities.open(scope.named("account"), IDLE, this::birth);
  }

  Entities<String, Order> openEntities(Function<String, Actor<Order>> birth) {
    return Entities.open(scope.anonymous(), IDLE, (builder, name) -> birth.apply(name));
  }

  Actor<Order> newAccount(String name) {
    return birth(scope.named("account/" + name), name);
  }

  Actor<Order> birth(ActorBuilder<Object> builder, String name) {
    addEvent("born " + name);
    return builder.onFailure(FailurePolicy.stop().withoutLog()).initialState(() -> new Account(name))
        .onStop(Account::save).newActor(Account::handle);
  }

  private void addEvent(String event) {
    if (!event.endsWith("witness")) events.add(event);
  }

  /** Advances the clock so far that all unused accounts are idle. */
  void advanceBeyondIdleTime() {
    clock.advance(IDLE.multipliedBy(2));
  }

  /** Makes unused accounts idle, and waits until {@code remaining} accounts are left. */
  void passivateUntil(int remaining) {
    advanceBeyondIdleTime();
    Patience.eventually(() -> accounts.size() == remaining);
  }

  /**
   * Makes unused accounts idle twice. Each time, the method waits until the sweeper has passivated
   * the witness and has checked all entities.
   */
  void sweepTwice() {
    for (int i = 0; i < 2; i++) {
      int savedBefore = savedBalances.getOrDefault("witness", 0);
      accounts.actor("witness").sendMessage(new Pay(1));
      advanceBeyondIdleTime();
      Patience.eventually(() -> savedBalances.getOrDefault("witness", 0) > savedBefore && isSwept());
    }
  }

  private boolean isSwept() {
    var sweepers = scope.actors().stream().filter(actor -> actor.name().equals("account")).toList();
    return sweepers.size() == 1 && sweepers.getFirst().state() == ActorState.IDLE;
  }

  /**
   * Returns the time-out exception of the question. Advances the clock while the question waits.
   */
  AskTimeoutException awaitTimeout(Duration limit, Callable<?> question) {
    CompletableFuture<AskTimeoutException> timeout =
        Patience.callOnFiber(() -> assertThrows(AskTimeoutException.class, question::call));
    Patience.eventually(() -> {
      clock.advance(limit);
      return timeout.isDone();
    });
    return Patience.value(timeout);
  }

  Actor<Order> ada() {
    return accounts.actor("ada");
  }

  final class Account {
    private final String name;
    private int balance;

    Account(String name) {
      this.name = name;
      balance = savedBalances.getOrDefault(name, 0);
      assertTrue(liveAccounts.incrementAndGet() > 0);
    }

    void handle(Order order, ActorContext<Order> context) throws InterruptedException {
      switch (order) {
        case Pay pay -> balance += pay.amount();
        case Balance request -> {
          balanceRequests.incrementAndGet();
          context.reply(request, balance);
        }
        case ReplyLater request -> context.replyWhen(request, request.value());
        case WaitAtGate wait -> wait.gate().pass();
        case AskExit exit -> context.self().askExit();
        case Fail fail -> throw new IllegalStateException("planned");
      }
    }

    void save() throws InterruptedException {
      var gate = saveGate;
      if (gate != null) gate.pass();
      savedBalances.put(name, balance);
      addEvent("saved " + name);
      liveAccounts.decrementAndGet();
    }
  }

  @Override
  public void close() {
    Gate.openAll();
    accounts.close();
    scope.closeWithin(Duration.ZERO);
  }
}
