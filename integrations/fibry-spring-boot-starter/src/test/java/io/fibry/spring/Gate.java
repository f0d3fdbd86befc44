package io.fibry.spring;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Keeps who comes to it until the test lets them go. */
final class Gate {
  private final CountDownLatch entered = new CountDownLatch(1);
  private final CountDownLatch opened = new CountDownLatch(1);

  void pass() throws InterruptedException {
    enter();
    opened.await();
  }

  /** Does not wait. */
  void enter() {
    entered.countDown();
  }

  /** Somebody stands at it. */
  void awaitEntered() throws InterruptedException {
    if (!entered.await(20, TimeUnit.SECONDS)) throw new AssertionError("nobody came to the gate");
  }

  void open() {
    opened.countDown();
  }
}
