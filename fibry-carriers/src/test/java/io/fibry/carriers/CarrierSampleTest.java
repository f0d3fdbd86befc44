package io.fibry.carriers;

import io.fibry.support.Patience;
import org.junit.jupiter.api.Test;

/** The times that a started carrier gives to its {@link WakePolicy}. */
class CarrierSampleTest {
  private final CarrierPool pool = CarrierPool.start(1);
  private final Carrier carrier = pool.carriers()[0];

  private void runDrainAfterSleep() {
    Patience.eventually(carrier.sleeper::isAsleep);
    var drain = new TestDrain(() -> {});
    pool.run(drain);
    Patience.eventually(() -> drain.runs.get() > 0);
  }

  /** Each search takes 60 µs, so a mean that contained the searches would not fall so far. */
  @Test
  void meanOfQuickEntriesContainsNoSearchAndNoSleep() {
    runDrainAfterSleep();
    Patience.eventually(carrier.sleeper::isAsleep);
    for (int i = 0; i < 100; i++) carrier.policy.addSample(50_000, 1, 0);

    Patience.eventually(() -> {
      runDrainAfterSleep();
      return !carrier.policy.isWorthStealing(1);
    });
  }
}
