package io.fibry.carriers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.engine.carrier.CarriedDrain;
import io.fibry.support.Patience;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * Tests which carriers are woken by askers that no carrier runs. The carriers are not started: the
 * test has the role of their threads.
 */
class AskerOffCarriersTest {
  private final CarrierPool pool = new CarrierPool();
  private final Carrier held = new Carrier(pool, "held", false); // awake, and takes no entry
  private final Carrier idle = new Carrier(pool, "idle", false);

  AskerOffCarriersTest() {
    pool.setCarriers(new Carrier[] {held, idle});
    pool.beginSleep(idle);
  }

  private final CompletableFuture<Thread> runningThread = new CompletableFuture<>(); // of the drain

  /** Returns a drain of an asker that spins or parks. */
  private CarriedDrain drain(boolean isSpinning) {
    return new TestDrain(() -> runningThread.complete(Thread.currentThread())) {
      @Override
      public boolean hasSpinningAsker() {
        return isSpinning;
      }

      @Override
      public boolean hasAskerOffCarriers() {
        return !isSpinning;
      }
    };
  }

  private List<Boolean> woken() {
    return List.of(held.sleeper.isWoken(), idle.sleeper.isWoken());
  }

  @Test
  void askerWakesCarrierOnlyAfterItsSpin() {
    pool.run(drain(true));
    assertTrue(pool.hasSharedEntry());
    assertEquals(List.of(false, false), woken());

    pool.wakeForEntry();

    assertEquals(List.of(false, true), woken());
  }

  @Test
  void askerWakesNoCarrierIfItsRequestWasTaken() {
    pool.run(drain(true));
    pool.takeShared();

    pool.wakeForEntry();

    assertEquals(List.of(false, false), woken());
  }

  @Test
  void requestOfParkingVirtualThreadIsLent() {
    var asker = Patience.startFiber(() -> pool.run(drain(false)));

    var thread = Patience.value(runningThread);

    assertTrue(thread.isVirtual() && thread != asker);
    assertFalse(pool.hasSharedEntry());
    assertEquals(List.of(false, false), woken());
  }

  @Test
  void requestWakesCarrierAtOnceIfPlatformThreadParks() {
    pool.run(drain(false));

    assertEquals(List.of(false, true), woken());
  }

  @Test
  void requestOfSpinningAskerWakesCarrierIfAllSleep() {
    pool.beginSleep(held);

    pool.run(drain(true));

    assertEquals(List.of(true, false), woken());
  }
}
