package io.fibry.carriers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.engine.carrier.CarriedDrain;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests the wake-ups of carriers that are not started: the test has the role of their threads. */
class SpinningAskerTest {
  private final CarrierPool pool = new CarrierPool();
  private final Carrier held = new Carrier(pool, "held", false); // awake, and takes no entry
  private final Carrier idle = new Carrier(pool, "idle", false);

  SpinningAskerTest() {
    pool.setCarriers(new Carrier[] {held, idle});
    pool.beginSleep(idle);
  }

  private static CarriedDrain drain(boolean hasSpinningAsker) {
    return new TestDrain(() -> {}) {
      @Override
      public boolean hasSpinningAsker() {
        return hasSpinningAsker;
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
  void requestWakesCarrierAtOnceIfAskerParks() {
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
