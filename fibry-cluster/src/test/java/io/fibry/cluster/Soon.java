package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Waits in tests: long enough for any machine, never forever. */
final class Soon {
  private Soon() {}

  static void becomesTrue(BooleanSupplier fact) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!fact.getAsBoolean()) {
      assertTrue(System.nanoTime() < end, "it never came true");
      Thread.yield();
    }
  }
}
