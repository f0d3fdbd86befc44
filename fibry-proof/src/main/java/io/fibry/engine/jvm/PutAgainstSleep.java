package io.fibry.engine.jvm;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A fiber puts a drain into a slot and wakes the monitor, which is about to sleep. Results: 1 if
 * the monitor sleeps, and 1 if the drain is in the slot.
 */
@JCStressTest
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the monitor is awake")
@Outcome(expect = FORBIDDEN, desc = "the monitor sleeps, or the slot has lost the drain")
@State
public class PutAgainstSleep {
  private final WokenDrain drain = new CountingDrain();
  private final HandOverSlots slots = new HandOverSlots(1);
  private final HandOverMonitor monitor = new HandOverMonitor(slots, drain -> {});

  @Actor
  public void fiber() {
    slots.put(drain);
    monitor.wake();
  }

  @Actor
  public void monitor() {
    monitor.tryFallAsleep();
  }

  @Arbiter
  public void verdict(II_Result result) {
    result.r1 = monitor.isAsleep() ? 1 : 0;
    result.r2 = slots.peek(0) == drain ? 1 : 0;
  }
}
