package io.fibry.spring;

import io.fibry.support.Patience;
import java.util.concurrent.CountDownLatch;

/** A gate that blocks threads until the test opens it. */
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
  void awaitEntered() {
    Patience.await(entered);
  }

  void open() {
    opened.countDown();
  }
}
