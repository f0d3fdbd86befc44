package io.fibry.sample;

import io.fibry.support.Patience;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/** Holds all clerks until it is opened; serves them at once when it is open. */
final class BlockedWarehouse implements Warehouse {
  private volatile Hold hold = new Hold(); // written by the test, read by the clerks

  /** A period in which the warehouse holds the clerks. */
  private record Hold(CountDownLatch busy, CountDownLatch opened, AtomicLong sold) {
    Hold() {
      this(new CountDownLatch(ShopApplication.CLERKS), new CountDownLatch(1), new AtomicLong());
    }
  }

  @Override
  public Receipt fetch(Order order) throws InterruptedException {
    var mine = hold;
    mine.busy.countDown();
    mine.opened.await();
    return new Receipt(order.what(), mine.sold.incrementAndGet());
  }

  void hold() {
    hold = new Hold();
  }

  /** Waits until all clerks are held. */
  void awaitBusy() {
    Patience.await(hold.busy);
  }

  void open() {
    hold.opened.countDown();
  }
}
