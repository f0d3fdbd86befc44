package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorScope;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** A way on which things take time and keep their order: a slow one holds up all behind it. */
final class Line {

  private record Arrival(long due, Runnable code) {}

  private final Actor<Arrival> end;
  private long last; // when the last one arrives

  /** @param scope of the machine at its end */
  Line(ActorScope scope) {
    this(scope, new ReentrantLock());
  }

  /** @param turn an arrival runs while it holds this lock */
  Line(ActorScope scope, ReentrantLock turn) {
    this.end = scope.anonymous().newActor((Arrival arrival) -> {
      sleepUntil(arrival.due);
      turn.lock();
      try {
        arrival.code.run();
      } finally {
        turn.unlock();
      }
    });
    this.last = System.nanoTime();
  }

  /** @param delay in nanoseconds */
  void add(long delay, Runnable arrival) {
    last = Math.max(last, System.nanoTime() + delay);
    end.sendMessage(new Arrival(last, arrival));
  }

  /** Returns when everything that was sent has arrived. */
  void await() {
    sleepUntil(last + 1);
  }

  static void sleepUntil(long time) {
    try {
      long left = time - System.nanoTime();
      if (left > 0) TimeUnit.NANOSECONDS.sleep(left);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
    }
  }
}
