package io.fibry.examples.tour;

import io.fibry.ActorSystem;
import io.fibry.Strategy;
import java.util.concurrent.CountDownLatch;

/** Many that sleep at the same time, as if each waited for a database. */
public final class BlockingWork {
  private final int millis;

  public BlockingWork(int millis) {
    this.millis = millis;
  }

  /** Actors, whose handlers sleep. */
  public Side.Work actors() {
    return times -> {
      var how = ActorSystem.anonymous().strategy(Strategy.FIBER);
      var done = new CountDownLatch(times);
      long start = System.nanoTime();
      for (int i = 0; i < times; i++) how.newActor(this::sleep).sendMessage(done);
      done.await();
      return System.nanoTime() - start;
    };
  }

  /** Virtual threads. */
  public Side.Work threads() {
    return times -> {
      var done = new CountDownLatch(times);
      long start = System.nanoTime();
      for (int i = 0; i < times; i++) Thread.startVirtualThread(() -> sleep(done));
      done.await();
      return System.nanoTime() - start;
    };
  }

  private void sleep(CountDownLatch done) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
    done.countDown();
  }
}
