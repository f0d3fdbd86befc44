package io.fibry.carriers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import org.junit.jupiter.api.Test;

/** Tests a carrier that is not started: the test has the role of its thread. */
class CarrierTest {
  private final Carrier carrier = new Carrier(new CarrierPool(), "test-carrier", false);

  /** Otherwise the mean time of a drain would be half of the truth if each runner runs one. */
  @Test
  void carrierCountsDrainsButNotSearchForDrain() {
    var drain = new TestDrain(() -> {});
    int begun = carrier.begunCount();

    assertNull(carrier.takeDrain());
    assertEquals(begun, carrier.begunCount());
    carrier.queue.add(drain);
    assertSame(drain, carrier.takeDrain());
    assertEquals(begun + 1, carrier.begunCount());
  }

  @Test
  void runnerTakesNoContinuation() {
    Runnable continuation = () -> {};
    int begun = carrier.begunCount();
    carrier.queue.add(continuation);

    assertNull(carrier.takeDrain());
    assertEquals(begun, carrier.begunCount());
    assertSame(continuation, carrier.queue.takeOwn());
  }
}
