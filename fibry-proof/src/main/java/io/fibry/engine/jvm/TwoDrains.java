package io.fibry.engine.jvm;

import org.openjdk.jcstress.infra.results.III_Result;

/** A race about two drains for one slot. */
abstract class TwoDrains {
  final HandOverSlots slots = new HandOverSlots(1);
  final CountingDrain firstDrain = new CountingDrain();
  final CountingDrain secondDrain = new CountingDrain();

  /**
   * Writes the results: how often each drain was taken, and how often a taker did not see the write
   * before the put.
   */
  final void count(III_Result result) {
    CountingDrain.take(slots.take());
    result.r1 = firstDrain.takenCount;
    result.r2 = secondDrain.takenCount;
    result.r3 = firstDrain.unseenCount + secondDrain.unseenCount;
  }
}
