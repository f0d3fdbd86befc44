package io.fibry.examples;

import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.pool.Entities;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/** An actor per account, loaded on first use, and saved and ended after ten idle minutes. */
class EntitiesExample {
  sealed interface Message {}
  record Deposit(long amount) implements Message {}
  record Balance() implements Message, Request<Balance, Long> {}

  private static final Map<Integer, Long> DATABASE = new ConcurrentHashMap<>();
  private static final Semaphore SAVED = new Semaphore(0);
  private final int id;
  private long balance;

  EntitiesExample(int id) {
    this.id = id;
    this.balance = DATABASE.getOrDefault(id, 0L);
  }

  void handle(Message message, ActorContext<Message> context) {
    switch (message) {
      case Deposit deposit -> balance += deposit.amount();
      case Balance request -> context.reply(request, balance);
    }
  }

  void save() {
    DATABASE.put(id, balance);
    SAVED.release();
  }

  public static void main(String[] args) throws Exception {
    int count = args.length > 0 ? Integer.parseInt(args[0]) : 100_000; // a million need 400 MB
    var clock = new ManualScheduler(); // for the example only
    var scope = ActorSystem.openScope("bank", options -> options.withScheduler(clock));
    Entities<Integer, Message> accounts = Entities.open(scope.anonymous(), Duration.ofMinutes(10),
        (builder, id) -> builder.initialState(() -> new EntitiesExample(id)).onStop(EntitiesExample::save)
            .newActor(EntitiesExample::handle));
    accounts.actor(0).sendMessage(new Deposit(1));
    clock.advance(Duration.ofMinutes(20));
    SAVED.acquire();
    accounts.actor(0).sendMessage(new Deposit(1));
    System.out.println("account 0: " + DATABASE.get(0) + " saved, " + accounts.actor(0).ask(new Balance()) + " in all");

    for (int id = 0; id < count; id++) accounts.actor(id).sendMessage(new Deposit(1));
    System.out.println(accounts.size() + " accounts are alive");
    clock.advance(Duration.ofMinutes(20));
    SAVED.acquire(count);
    System.out.println(DATABASE.size() + " were idle and have been saved");
  }
}
