package io.fibry.examples.tour;

import io.fibry.ActorSystem;
import io.fibry.Strategy;
import java.util.concurrent.CountDownLatch;

/** Many actors or threads that sleep at the same time, as if each waited for a database. */
public final class BlockingWork {
  private final int millis;

  public BlockingWork(int millis) {
    this.millis = millis;
  }

  /** Measures actors whose handlers sleep. */
  public Side.Work actors() {
    return count -> {
      var builder = ActorSystem.anonymous().strategy(Strategy.FIBER);
      var remaining = new CountDownLatch(count);
      long start = System.nanoTime();
      for (int i = 0; i < count; i++) builder.newActor(this::sleep).sendMessage(remaining);
      remaining.await();
      return System.nanoTime() - start;
    };
  }

  /** Measures virtual threads that sleep. */
  public Side.Work threads() {
    return count -> {
      var remaining = new CountDownLatch(count);
      long start = System.nanoTime();
      for (int i = 0; i < count; i++) Thread.startVirtualThread(() -> sleep(remaining));
      remaining.await();
      return System.nanoTime() - start;
    };
  }

  private void sleep(CountDownLatch remaining) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    remaining.countDown();
  }
}
