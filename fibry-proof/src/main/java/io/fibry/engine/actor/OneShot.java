package io.fibry.engine.actor;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fibry.engine.scope.StressActors;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Two threads run the same activation, but only one of the two runs may handle messages. One of the
 * threads also sends a message. Results: handled messages, the same number by a second counter,
 * handlers that saw different counters.
 */
@JCStressTest
@Outcome(id = "2, 2, 0", expect = ACCEPTABLE, desc = "both messages handled, once each, one at a time")
@Outcome(expect = FORBIDDEN, desc = "a message is lost, or two handlers ran at the same time")
@State
public class OneShot {
  private Runnable firstActivation; // the first activation, which both threads run
  private int count; // count, secondCount and mismatches: written by handlers only
  private int secondCount;
  private int mismatches;
  private final ActorCell cell = (ActorCell) StressActors.actor(this::activate, message -> {
    if (count != secondCount) mismatches++;
    count++;
    secondCount++;
  });

  public OneShot() {
    cell.sendMessage(1);
  }

  private void activate(Runnable activation) {
    if (firstActivation == null) firstActivation = activation;
    else activation.run();
  }

  @Actor
  public void firstRunner() {
    firstActivation.run();
  }

  @Actor
  public void secondRunner() {
    cell.sendMessage(2);
    firstActivation.run();
  }

  @Arbiter
  public void verdict(III_Result result) {
    result.r1 = count;
    result.r2 = secondCount;
    result.r3 = mismatches;
  }
}
