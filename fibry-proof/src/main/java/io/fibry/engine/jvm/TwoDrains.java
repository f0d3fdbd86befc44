package io.fibry.engine.jvm;

import org.openjdk.jcstress.infra.results.III_Result;

/** Two drains, laid into one slot. */
abstract class TwoDrains {
  final HandOverSlots slots = new HandOverSlots(1);
  final LaidDrain one = new LaidDrain();
  final LaidDrain another = new LaidDrain();

  /** How often each left the slot, and how many without what was written before. */
  final void count(III_Result result) {
    LaidDrain.take(slots.take());
    result.r1 = one.taken;
    result.r2 = another.taken;
    result.r3 = one.unseen + another.unseen;
  }
}
