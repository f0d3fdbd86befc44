package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.AskTimeoutException;
import io.fibry.FailurePolicy;
import io.fibry.Gate;
import io.fibry.Letters;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.support.Patience;
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
 * Accounts by name, on a manual clock. Each loads its balance at its birth and saves it at its end.
 */
final class BankFixture implements AutoCloseable {
  sealed interface Order {}
  record Pay(int amount) implements Order {}
  record Balance() implements Order, Request<Balance, Integer> {}
  record ReplyLater(CompletableFuture<Integer> value) implements Order, Request<ReplyLater, Integer> {}
  record Stand(Gate gate) implements Order {}
  record Leave() implements Order {}
  record Fail() implements Order {}

  static final Duration IDLE = Duration.ofMinutes(8);

  final Letters letters = new Letters();
  final ManualScheduler clock = new ManualScheduler();
  final Map<String, Integer> saved = new ConcurrentHashMap<>();
  final List<String> events = new CopyOnWriteArrayList<>();
  final AtomicInteger alive = new AtomicInteger(); // states in use
  final AtomicInteger asked = new AtomicInteger(); // requests for balances
  volatile Gate leaving; // null: does not block `save`
  final ActorScope scope;
  final Entities<String, Order> accounts;

  BankFixture(Strategy strategy) {
    scope = ActorSystem.openScope("bank",
        o -> o.withStrategy(strategy).withScheduler(clock).withDeadLetters(letters).withKillGrace(Duration.ofMillis(1))
            .withAskLimit(IDLE.multipliedBy(1_000))); // a waiting ask outlives each `idle`
    accounts = accountsIn(scope);
  }

  Entities<String, Order> accountsIn(ActorScope scope) {
    return Entities.open(scope.named("account"), IDLE, this::birth);
  }

  Entities<String, Order> others(Function<String, Actor<Order>> birth) {
    return Entities.open(scope.anonymous(), IDLE, (how, name) -> birth.apply(name));
  }

  Actor<Order> bornInTheScope(String name) {
    return birth(scope.named("account/" + name), name);
  }

  Actor<Order> birth(ActorBuilder<Object> how, String name) {
    tell("born " + name);
    return how.onFailure(FailurePolicy.stop().withoutLog()).initialState(() -> new Account(name)).onStop(Account::save)
        .newActor(Account::handle);
  }

  private void tell(String event) {
    if (!event.endsWith("witness")) events.add(event);
  }

  /** Lets all accounts be idle. */
  void idle() {
    clock.advance(IDLE.multipliedBy(2));
  }

  /** Does so until {@code left} entities remain. */
  void idle(int left) {
    idle();
    Patience.eventually(() -> accounts.size() == left);
  }

  /**
   * Does so twice, each time until the sweeper has found the witness idle and looked at all
   * entities.
   */
  void idleTwice() {
    for (int i = 0; i < 2; i++) {
      int before = saved.getOrDefault("witness", 0);
      accounts.actor("witness").sendMessage(new Pay(1));
      idle();
      Patience.eventually(() -> saved.getOrDefault("witness", 0) > before && isSwept());
    }
  }

  private boolean isSwept() {
    var sweepers = scope.actors().stream().filter(one -> one.name().equals("account")).toList();
    return sweepers.size() == 1 && sweepers.getFirst().activity().equals("idle");
  }

  /** The time-out of a question, since the time passes while it waits. */
  AskTimeoutException late(Duration limit, Callable<?> question) {
    var late = new CompletableFuture<AskTimeoutException>();
    Patience.startFiber(() -> assertThrows(AskTimeoutException.class, question::call), late);
    Patience.eventually(() -> {
      clock.advance(limit);
      return late.isDone();
    });
    return Patience.value(late);
  }

  Actor<Order> ada() {
    return accounts.actor("ada");
  }

  final class Account {
    private final String name;
    private int balance;

    Account(String name) {
      this.name = name;
      balance = saved.getOrDefault(name, 0);
      assertTrue(alive.incrementAndGet() > 0);
    }

    void handle(Order order, ActorContext<Order> context) throws InterruptedException {
      switch (order) {
        case Pay pay -> balance += pay.amount();
        case Balance request -> {
          asked.incrementAndGet();
          context.reply(request, balance);
        }
        case ReplyLater request -> context.replyWhen(request, request.value());
        case Stand stand -> stand.gate().pass();
        case Leave leave -> context.self().askExit();
        case Fail fail -> throw new IllegalStateException("planned");
      }
    }

    void save() throws InterruptedException {
      var gate = leaving;
      if (gate != null) gate.pass();
      saved.put(name, balance);
      tell("saved " + name);
      alive.decrementAndGet();
    }
  }

  @Override
  public void close() {
    Gate.openAll();
    accounts.close();
    scope.closeWithin(Duration.ZERO);
  }
}
