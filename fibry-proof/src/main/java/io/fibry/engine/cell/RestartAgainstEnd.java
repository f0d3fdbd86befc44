package io.fibry.engine.cell;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fibry.engine.scope.Stage;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * The drain accepts a restart, and another one is requested, while a thread shuts the door for
 * good. Results: the first was accepted, the phase. Catches a plain write in either step.
 */
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "heeded, then shut")
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "shut first")
@Outcome(expect = FORBIDDEN, desc = "open again")
@State
public class RestartAgainstEnd {
  private final Cell cell = Stage.actor(activation -> {}, message -> {});
  private boolean heeded;

  public RestartAgainstEnd() {
    cell.requestRestart(0);
  }

  @Actor
  public void drain() {
    heeded = cell.takeRestartRequest();
    cell.requestRestart(0);
  }

  @Actor
  public void stopper() {
    cell.askExit();
  }

  @Arbiter
  public void verdict(II_Result result) {
    result.r1 = heeded ? 1 : 0;
    result.r2 = cell.phase;
  }
}
