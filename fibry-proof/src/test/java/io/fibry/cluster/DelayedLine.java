package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorScope;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A connection on which messages take time and keep their order: a slow message delays all messages
 * behind it.
 */
final class DelayedLine {

  private record Arrival(long due, Runnable code) {}

  private final Actor<Arrival> receiver;
  private long lastDue; // when the last message arrives

  /** @param scope a scope on the receiving machine */
  DelayedLine(ActorScope scope) {
    this(scope, new ReentrantLock());
  }

  /** @param lock held while the code of an arrival runs */
  DelayedLine(ActorScope scope, ReentrantLock lock) {
    this.receiver = scope.anonymous().newActor((Arrival arrival) -> {
      sleepUntil(arrival.due);
      lock.lock();
      try {
        arrival.code.run();
      } finally {
        lock.unlock();
      }
    });
    this.lastDue = System.nanoTime();
  }

  /** @param delay the delay in nanoseconds */
  void add(long delay, Runnable arrival) {
    lastDue = Math.max(lastDue, System.nanoTime() + delay);
    receiver.sendMessage(new Arrival(lastDue, arrival));
  }

  /** Sleeps until the last message is due. The code of its arrival may run a little later. */
  void sleepUntilLastDue() {
    sleepUntil(lastDue + 1);
  }

  static void sleepUntil(long time) {
    try {
      long remaining = time - System.nanoTime();
      if (remaining > 0) TimeUnit.NANOSECONDS.sleep(remaining);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
    }
  }
}
