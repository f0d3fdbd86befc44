package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** Four kinds of pools: scaling, weighted, by key, and with a fiber per message. */
class WorkerPools {
  record Order(String customer, int number) {}

  public static void main(String[] args) throws Exception {
    // up to three workers, each with a connection, and at most two waiting messages
    var connections = new AtomicInteger();
    var allBusy = new CountDownLatch(3);
    var gate = new CountDownLatch(1);
    var database = Pools.scaling(ActorSystem.named("db").mailbox(Mailbox.bounded(2, Overflow.REJECT)), 1, 3)
        .initialState(connections::incrementAndGet)
        .newActor((Integer connection, String sql) -> {
          allBusy.countDown();
          gate.await();
        });
    for (int i = 0; i < 3; i++) database.sendMessage("select");
    allBusy.await();
    boolean fourthTaken = database.sendMessage("waits");
    boolean fifthTaken = database.sendMessage("waits too");
    boolean sixthTaken = database.sendMessage("is refused");
    System.out
        .println(connections + " connections; taken: " + fourthTaken + ", " + fifthTaken + ", " + sixthTaken);
    gate.countDown();
    database.close();

    // an image takes as many permits as it has megabytes
    var images = Pools.weighted(ActorSystem.named("images"), 100, (Integer megabytes) -> megabytes)
        .newActorWithReturn(megabytes -> "scaled " + megabytes + " MB");
    System.out.println(images.ask(70));
    try {
      images.ask(101);
    } catch (IllegalArgumentException tooLarge) {
      System.out.println(tooLarge.getMessage());
    }

    // sequential for one customer, parallel for different customers
    var numbers = new ConcurrentHashMap<String, String>();
    var invoices = Pools.byKey(ActorSystem.anonymous(), 4, Order::customer)
        .newActor(order -> numbers.merge(order.customer(), "" + order.number(), String::concat));
    for (int i = 1; i < 10; i++)
      for (var customer : new String[] {"Ada", "Bob", "Eve"}) invoices.sendMessage(new Order(customer, i));
    invoices.close();
    System.out.println("Ada " + numbers.get("Ada") + ", Bob " + numbers.get("Bob") + ", Eve " + numbers.get("Eve"));

    // a fiber for each message, without a queue
    var downloads = Pools.perMessage(ActorSystem.anonymous()).newActorWithReturn(
        (String page) -> page + " from " + (Thread.currentThread().isVirtual() ? "a fiber" : "a thread"));
    System.out.println(downloads.ask("a page"));
  }
}
