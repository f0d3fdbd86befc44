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
 * Two fibers that share a slot place a drain each, and run the drains that they find. Results: how
 * often each drain was taken, how often the write before it was unseen.
 */
@JCStressTest
@Outcome(id = "1, 1, 0", expect = ACCEPTABLE, desc = "each drain was taken once")
@Outcome(expect = FORBIDDEN, desc = "a drain is lost or taken twice, or a write is unseen")
@State
public class LayAgainstLay extends TwoDrains {
  @Actor
  public void fiber() {
    LaidDrain.take(slots.put(firstDrain.write()));
    LaidDrain.take(slots.take());
  }

  @Actor
  public void otherFiber() {
    LaidDrain.take(slots.put(secondDrain.write()));
    LaidDrain.take(slots.take());
  }

  @Arbiter
  public void verdict(III_Result result) {
    count(result);
  }
}
