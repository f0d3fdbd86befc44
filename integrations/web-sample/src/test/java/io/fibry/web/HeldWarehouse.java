package io.fibry.web;

import io.fibry.support.Patience;
import java.util.concurrent.CountDownLatch;

/** A warehouse that serves at once, unless a test holds it. */
final class HeldWarehouse implements Warehouse {
  static final String BROKEN = "broken"; // an item that cannot be fetched

  private volatile Hold hold; // null: serves at once; written by the test, read by the clerk

  private record Hold(CountDownLatch clerkWaiting, CountDownLatch opening) {}

  @Override
  public String fetch(String item) throws InterruptedException {
    var currentHold = hold;
    if (currentHold != null) {
      currentHold.clerkWaiting.countDown();
      currentHold.opening.await();
    }
    if (item.equals(BROKEN)) throw new IllegalStateException("the secret");
    return "ordered " + item;
  }

  /** Makes the clerk wait until the test calls {@link #open}. */
  void hold() {
    hold = new Hold(new CountDownLatch(1), new CountDownLatch(1));
  }

  void awaitClerk() {
    Patience.await(hold.clerkWaiting);
  }

  void open() {
    var currentHold = hold;
    hold = null;
    if (currentHold != null) currentHold.opening.countDown();
  }
}
