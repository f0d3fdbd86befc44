package io.fibry.engine.cell;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fibry.engine.scope.StressActors;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIL_Result;

/**
 * The drain of an actor that has only a name counts messages, while another thread needs the
 * extras. Both make the object that takes the place of the name. Results: the count, 1 if both
 * threads later find the same extras, and the name. This test detects a plain write in place of the
 * compare-and-set.
 */
@JCStressTest
@Outcome(id = "2, 1, name", expect = ACCEPTABLE, desc = "both threads share one object")
@Outcome(expect = FORBIDDEN, desc = "a count, the extras or the name were lost")
@State
public class ExtrasAgainstCounts {
  private final Cell cell = StressActors.actor(activation -> {}, message -> {});
  private ColdState extras;

  public ExtrasAgainstCounts() {
    cell.setIdentity("name", null);
  }

  @Actor
  public void drain() {
    cell.addToOwnCounts(2, 0);
  }

  @Actor
  public void other() {
    extras = cell.extras();
  }

  @Arbiter
  public void verdict(IIL_Result result) {
    result.r1 = (int) cell.handled();
    result.r2 = extras == cell.extras() ? 1 : 0;
    result.r3 = cell.label();
  }
}
