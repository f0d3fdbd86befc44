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
 * Two fibers that share a slot put a drain each into it, and run the drains that they find.
 * Results: how often each drain was taken, how often a taker did not see the write before the put.
 */
@JCStressTest
@Outcome(id = "1, 1, 0", expect = ACCEPTABLE, desc = "each drain was taken once")
@Outcome(expect = FORBIDDEN, desc = "a drain is lost or taken twice, or a write is unseen")
@State
public class PutAgainstPut extends TwoDrains {
  @Actor
  public void fiber() {
    CountingDrain.take(slots.put(firstDrain.write()));
    CountingDrain.take(slots.take());
  }

  @Actor
  public void otherFiber() {
    CountingDrain.take(slots.put(secondDrain.write()));
    CountingDrain.take(slots.take());
  }

  @Arbiter
  public void verdict(III_Result result) {
    count(result);
  }
}
