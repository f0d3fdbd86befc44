package io.fibry.engine.cell;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fibry.engine.scope.StressActors;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IL_Result;

/**
 * Two threads need the extras of an actor that has nothing yet. Results: 1 if both got the same
 * extras, which the actor keeps, and the name. This test detects a plain write in place of the
 * compare-and-set, and extras that are made without the lock.
 */
@JCStressTest
@Outcome(id = "1, null", expect = ACCEPTABLE, desc = "both threads share the extras")
@Outcome(expect = FORBIDDEN, desc = "a thread has extras that the actor does not keep")
@State
public class ExtrasAgainstExtras {
  private final Cell cell = StressActors.actor(activation -> {}, message -> {});
  private ColdState first;
  private ColdState second;

  @Actor
  public void killer() {
    first = cell.extras();
  }

  @Actor
  public void watcher() {
    second = cell.extras();
  }

  @Arbiter
  public void verdict(IL_Result result) {
    result.r1 = first == second && first == cell.extras() ? 1 : 0;
    result.r2 = cell.label();
  }
}
