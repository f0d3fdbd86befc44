package io.fibry.engine.jvm;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * A fiber puts two drains into a slot, and runs the drains that it finds. The monitor scans the
 * slot, and takes the drain that it finds there. Results: how often each drain was taken, how often
 * a taker did not see the write before the put.
 */
@JCStressTest
@Outcome(id = "1, 1, 0", expect = ACCEPTABLE, desc = "each drain was taken once")
@Outcome(expect = FORBIDDEN, desc = "a drain is lost or taken twice, or a write is unseen")
@State
public class PutAgainstScan extends TwoDrains {
  @Actor
  public void fiber() {
    CountingDrain.take(slots.put(firstDrain.write()));
    CountingDrain.take(slots.put(secondDrain.write()));
    CountingDrain.take(slots.take());
  }

  @Actor
  public void monitor() {
    var drain = slots.peek(0);
    if (drain != null && slots.take(0, drain)) CountingDrain.take(drain);
  }

  @Arbiter
  public void verdict(III_Result result) {
    count(result);
  }
}
