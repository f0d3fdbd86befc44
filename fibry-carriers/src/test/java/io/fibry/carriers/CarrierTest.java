package io.fibry.carriers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.engine.carrier.CarriedDrain;
import java.util.concurrent.locks.LockSupport;
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

  private static CarriedDrain nearDrain() {
    return new TestDrain(() -> {}) {
      @Override
      public boolean isNear() {
        return true;
      }
    };
  }

  private Carrier carrierWithLongEntries() {
    for (int i = 0; i < 100; i++) carrier.policy.addSample(1_000_000, 1, 0);
    return carrier;
  }

  @Test
  void nearEntriesWakeNoCarrierAndAreNotStolenUntilFirstIsLate() {
    var owner = carrierWithLongEntries();
    var thief = new Carrier(owner.pool, "thief", false);
    owner.queue.add(nearDrain());
    owner.queue.add(NearContinuation.of(() -> {}));

    assertFalse(owner.isWorthWaking());
    assertFalse(thief.isWorthStealingFrom(owner));
    owner.lateHead = owner.queue.headIndex();
    owner.isLate = true;
    assertTrue(thief.isWorthStealingFrom(owner));
    owner.queue.takeOwn();
    assertFalse(thief.isWorthStealingFrom(owner), "the late entry was taken, and the next one is not late");
  }

  @Test
  void manyNearEntriesAreWorthAnotherCarrier() {
    var owner = carrierWithLongEntries();
    for (int i = 0; i < 5; i++) owner.queue.add(nearDrain());

    assertTrue(owner.isWorthWaking());
    owner.queue.takeOwn();
    assertFalse(owner.isWorthWaking());
  }

  @Test
  void nearDrainHoldsUpNoOtherEntry() {
    var owner = carrierWithLongEntries();
    var thief = new Carrier(owner.pool, "thief", false);
    owner.queue.add(nearDrain());
    owner.queue.add(new TestDrain(() -> {}));

    assertTrue(owner.isWorthWaking());
    assertTrue(thief.isWorthStealingFrom(owner));
  }

  @Test
  void markOfNextContinuationEndsWithUnparkOrYield() {
    carrier.unparkNear(Thread.currentThread());

    assertFalse(carrier.takeNextNear());
    LockSupport.park(); // uses the permit up
  }

  @Test
  void continuationOfSenderThatActorUnparksIsNear() {
    var owner = carrierWithLongEntries();
    Runnable continuation = () -> {};

    owner.queue.add(NearContinuation.of(continuation));
    assertFalse(owner.isWorthWaking());
    owner.queue.takeOwn();
    owner.queue.add(continuation);
    assertTrue(owner.isWorthWaking());
  }
}
