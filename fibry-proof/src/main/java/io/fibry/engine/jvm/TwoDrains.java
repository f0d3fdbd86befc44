package io.fibry.engine.jvm;

import org.openjdk.jcstress.infra.results.III_Result;

/** Two drains for one slot. */
abstract class TwoDrains {
  final HandOverSlots slots = new HandOverSlots(1);
  final LaidDrain firstDrain = new LaidDrain();
  final LaidDrain secondDrain = new LaidDrain();

  /**
   * Writes the results: how often each drain was taken, and how often the write before it was
   * unseen.
   */
  final void count(III_Result result) {
    LaidDrain.take(slots.take());
    result.r1 = firstDrain.takenCount;
    result.r2 = secondDrain.takenCount;
    result.r3 = firstDrain.unseenCount + secondDrain.unseenCount;
  }
}
