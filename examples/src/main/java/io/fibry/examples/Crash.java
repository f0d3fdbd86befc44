package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.durable.Durable;
import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;

/** Shows, with a store in memory, which messages and states survive a crash. */
class Crash {
  private static final BlockingQueue<String> CARTS = new LinkedBlockingQueue<>();
  private static final Semaphore LAMP_BEGUN = new Semaphore(0);
  private static final Semaphore POWER = new Semaphore(0);

  /**
   * Returns a kind of carts. A hat adds the items to {@link #CARTS}; a lamp waits for a permit of
   * {@link #POWER}.
   */
  static Durable<String> cart(Durable.Builder<String> kind) {
    return kind.state("").handler((items, item, context) -> {
      if (item.equals("lamp")) {
        LAMP_BEGUN.release();
        POWER.acquire();
      }
      var newItems = items.isEmpty() ? item : items + ", " + item;
      if (item.equals("hat")) context.afterCommit(() -> CARTS.add(newItems));
      return newItems;
    });
  }

  private static String itemsAfterCrash(Durable<String> cart) throws InterruptedException {
    MemoryStore survivor;
    try (var store = MemoryStore.open(); var scope = ActorSystem.openScope("before")) {
      var ada = cart.newActor(scope.named("ada"), store);
      for (var item : new String[] {"book", "lamp", "pen"}) ada.sendMessage(item);
      LAMP_BEGUN.acquire(); // the book is stored, the lamp is being handled, and the pen waits
      survivor = store.crash(); // the content that a disk would have
      ada.kill();
      ada.waitForExit(); // so that the scope need not end the actor
    }
    POWER.release();
    return continueWith(cart, survivor);
  }

  private static String continueWith(Durable<String> cart, Store store) throws InterruptedException {
    try (store; var scope = ActorSystem.openScope("after")) {
      cart.newActor(scope.named("ada"), store).sendMessage("hat");
      return CARTS.take();
    }
  }

  public static void main(String[] args) throws Exception {
    System.out.println("stored: " + itemsAfterCrash(cart(Durable.kind("cart", String.class))));
    POWER.drainPermits();
    System.out.println(
        "messages kept, too: " + itemsAfterCrash(cart(Durable.kind("cart", String.class).storeMessages(100))));
  }
}
