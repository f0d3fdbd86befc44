package io.fibry.durable.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import org.junit.jupiter.api.Test;

/** Tests that a courier continues once, in each order of its steps and the ends of calls. */
class CourierBatchTest {
  private static final int MAX_CALLS = 5;

  /** The steps of the courier: it adds each message, calls the actor, and parks the batch last. */
  @Test
  void courierContinuesOnceInEachOrder() {
    int orders = 0;
    for (int calls = 0; calls <= MAX_CALLS; calls++) {
      int steps = 2 * calls + 1; // the courier's steps, and an end for each call
      for (int order = 0; order < 1 << steps; order++)
        if (Integer.bitCount(order) == calls && isPossible(order, steps)) {
          assertContinuesOnce(order, steps);
          orders++;
        }
    }
    assertEquals(1 + 2 + 5 + 14 + 42 + 132, orders); // so many orders are possible
  }

  /** A bit that is set ends a call, which the courier must have made before. */
  private static boolean isPossible(int order, int steps) {
    int open = 0;
    for (int i = 0; i < steps; i++) {
      open += (order >> i & 1) == 0 ? 1 : -1;
      if (open < 0) return false;
    }
    return true;
  }

  private static void assertContinuesOnce(int order, int steps) {
    var batch = new CourierBatch();
    int calls = Integer.bitCount(order);
    int continued = 0;
    boolean isParkTried = false;
    for (int i = 0; i < steps; i++) {
      if ((order >> i & 1) != 0) {
        if (batch.endCall()) continued++;
      } else if (batch.size() < calls) batch.add("message " + i);
      else {
        isParkTried = true;
        if (!batch.park()) continued++;
      }
      String text = "order " + Integer.toBinaryString(order) + ", step " + i;
      if (!isParkTried) assertEquals(0, continued, text);
      assertFalse(continued > 1, text);
    }
    assertEquals(1, continued, "order " + Integer.toBinaryString(order));
  }
}
