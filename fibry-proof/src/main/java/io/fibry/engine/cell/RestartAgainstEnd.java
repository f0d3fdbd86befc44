package io.fibry.engine.cell;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fibry.engine.scope.StressActors;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * The drain accepts a restart, and another restart is requested, while a thread ends the actor.
 * Results: 1 if the first restart was accepted, and the phase, which is 1 after the end has begun.
 * This test detects a plain write of the phase in either step.
 */
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "the restart was accepted, then the end began")
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the end began first")
@Outcome(expect = FORBIDDEN, desc = "an ending actor is open again")
@State
public class RestartAgainstEnd {
  private final Cell cell = StressActors.actor(activation -> {}, message -> {});
  private boolean restartAccepted;

  public RestartAgainstEnd() {
    cell.requestRestart(0);
  }

  @Actor
  public void drain() {
    restartAccepted = cell.takeRestartRequest();
    cell.requestRestart(0);
  }

  @Actor
  public void stopper() {
    cell.askExit();
  }

  @Arbiter
  public void verdict(II_Result result) {
    result.r1 = restartAccepted ? 1 : 0;
    result.r2 = cell.phase;
  }
}
