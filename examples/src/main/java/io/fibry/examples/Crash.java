package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.durable.Durable;
import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;

/** What a crash leaves, and what it takes: a store in memory shows it without a disk. */
class Crash {
  private static final BlockingQueue<String> CARTS = new LinkedBlockingQueue<>();
  private static final Semaphore BEGUN = new Semaphore(0);
  private static final Semaphore POWER = new Semaphore(0);

  /** A cart. Adding a lamp waits until there is power. */
  static Durable<String> cart(Durable.Builder<String> kind) {
    return kind.state("").handler((items, item, context) -> {
      if (item.equals("lamp")) {
        BEGUN.release();
        POWER.acquire();
      }
      var next = items.isEmpty() ? item : items + ", " + item;
      if (item.equals("hat")) context.afterCommit(() -> CARTS.add(next));
      return next;
    });
  }

  private static String afterACrash(Durable<String> cart) throws InterruptedException {
    MemoryStore after;
    try (var store = MemoryStore.open(); var scope = ActorSystem.openScope("before")) {
      var ada = cart.newActor(scope.named("ada"), store);
      for (var item : new String[] {"book", "lamp", "pen"}) ada.sendMessage(item);
      BEGUN.acquire(); // the book is stored, the lamp is being handled, and the pen waits
      after = store.crash(); // what a disk would hold
      ada.kill();
      ada.waitForExit(); // so that its scope finds nothing to end
    }
    POWER.release();
    return goOn(cart, after);
  }

  private static String goOn(Durable<String> cart, Store store) throws InterruptedException {
    try (store; var scope = ActorSystem.openScope("after")) {
      cart.newActor(scope.named("ada"), store).sendMessage("hat");
      return CARTS.take();
    }
  }

  public static void main(String[] args) throws Exception {
    System.out.println("stored: " + afterACrash(cart(Durable.kind("cart", String.class))));
    POWER.drainPermits();
    System.out.println(
        "messages kept, too: " + afterACrash(cart(Durable.kind("cart", String.class).storeMessages(100))));
  }
}
