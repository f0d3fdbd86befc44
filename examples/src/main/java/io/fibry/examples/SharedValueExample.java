package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.pubsub.ObservableValue;
import java.util.concurrent.CountDownLatch;

/**
 * A value that many threads can set and subscribe to. A slow subscriber skips values, but always
 * sees the last value.
 */
class SharedValueExample {
  public static void main(String[] args) throws Exception {
    var level = ObservableValue.of(ActorSystem.anonymous(), 0);
    var full = new CountDownLatch(1);
    level.subscribe(value -> {
      if (value == 1_000) full.countDown();
    });

    for (int i = 0; i < 1_000; i++) level.update(old -> old + 1);
    full.await();

    System.out.println("level: " + level.value());
  }
}
