package io.fibry.spring;

import io.fibry.support.Patience;
import java.util.concurrent.CountDownLatch;

/** A gate that blocks threads until the test opens it. */
public final class Gate {
  private final CountDownLatch entered = new CountDownLatch(1);
  private final CountDownLatch opened = new CountDownLatch(1);

  public void pass() throws InterruptedException {
    enter();
    opened.await();
  }

  /** Records an arrival without waiting. */
  void enter() {
    entered.countDown();
  }

  /** Waits until a thread has arrived. */
  public void awaitEntered() {
    Patience.await(entered);
  }

  public void open() {
    opened.countDown();
  }
}
