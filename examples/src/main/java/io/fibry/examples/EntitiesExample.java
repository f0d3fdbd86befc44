package io.fibry.examples;

import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.pool.Entities;
import io.fibry.time.ManualClock;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/**
 * An actor for each account: made when it is used, ended when nobody has used it for ten minutes.
 * What the one saves, the next one loads. Give another number of accounts: a million fit into 400
 * MB.
 */
class EntitiesExample {
  sealed interface Message {}
  record Deposit(long amount) implements Message {}
  record Balance() implements Message, Request<Balance, Long> {}

  private static final Map<Integer, Long> DATABASE = new ConcurrentHashMap<>();
  private static volatile CountDownLatch toBeSaved = new CountDownLatch(1);
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
    toBeSaved.countDown();
  }

  public static void main(String[] args) throws Exception {
    int many = args.length > 0 ? Integer.parseInt(args[0]) : 100_000;
    var clock = new ManualClock(); // without it: the system's
    var accounts = Entities.of(Duration.ofMinutes(10), clock, (Integer id) -> ActorSystem.anonymous()
        .initialState(() -> new EntitiesExample(id)).onStop(EntitiesExample::save).newActor(EntitiesExample::handle));

    accounts.actor(0).sendMessage(new Deposit(1));
    clock.advance(Duration.ofMinutes(20));
    toBeSaved.await();
    accounts.actor(0).sendMessage(new Deposit(1));
    System.out.println("account 0: " + DATABASE.get(0) + " saved, " + accounts.actor(0).ask(new Balance()) + " in all");

    toBeSaved = new CountDownLatch(many);
    for (int id = 0; id < many; id++) accounts.actor(id).sendMessage(new Deposit(1));
    System.out.println(accounts.size() + " accounts are alive");
    clock.advance(Duration.ofMinutes(20));
    toBeSaved.await();
    System.out.println(DATABASE.size() + " were idle and have been saved");
  }
}
