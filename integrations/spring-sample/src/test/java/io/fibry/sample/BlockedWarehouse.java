package io.fibry.sample;

import io.fibry.support.Patience;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/** A warehouse that blocks all clerks until the test opens it, and then serves them at once. */
final class BlockedWarehouse implements Warehouse {
  private volatile Hold hold = new Hold(); // written by the test, read by the clerks

  /** The latches of one period in which the warehouse blocks the clerks. */
  private record Hold(CountDownLatch busyClerks, CountDownLatch opening, AtomicLong sold) {
    Hold() {
      this(new CountDownLatch(ShopApplication.CLERKS), new CountDownLatch(1), new AtomicLong());
    }
  }

  @Override
  public Receipt fetch(Order order) throws InterruptedException {
    var currentHold = hold;
    currentHold.busyClerks.countDown();
    currentHold.opening.await();
    return new Receipt(order.what(), currentHold.sold.incrementAndGet());
  }

  void hold() {
    hold = new Hold();
  }

  /** Waits until all clerks are blocked. */
  void awaitBusy() {
    Patience.await(hold.busyClerks);
  }

  void open() {
    hold.opening.countDown();
  }
}
