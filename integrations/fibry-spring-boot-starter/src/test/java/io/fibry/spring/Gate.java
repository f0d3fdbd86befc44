package io.fibry.spring;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Holds threads until the test opens it. */
final class Gate {
  private final CountDownLatch entered = new CountDownLatch(1);
  private final CountDownLatch opened = new CountDownLatch(1);

  void pass() throws InterruptedException {
    enter();
    opened.await();
  }

  /** Records an arrival without waiting. */
  void enter() {
    entered.countDown();
  }

  /** Waits until a thread has arrived. */
  void awaitEntered() throws InterruptedException {
    if (!entered.await(20, TimeUnit.SECONDS)) throw new AssertionError("no thread came to the gate");
  }

  void open() {
    opened.countDown();
  }
}
