package io.fibry.engine.actor;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fibry.engine.scope.Stage;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** Two threads run the same activation, one of which also sends. It works once. */
@JCStressTest
@Outcome(id = "2, 2, 0", expect = ACCEPTABLE, desc = "both messages handled, once each, one at a time")
@Outcome(expect = FORBIDDEN, desc = "lost, or two at once")
@State
public class OneShot {
  private Runnable held; // the first activation
  private int count; // this and the next two: used by handlers only
  private int twin;
  private int torn;
  private final ActorCell cell = (ActorCell) Stage.actor(this::activate, message -> {
    if (count != twin) torn++;
    count++;
    twin++;
  });

  public OneShot() {
    cell.sendMessage(1);
  }

  private void activate(Runnable activation) {
    if (held == null) held = activation;
    else activation.run();
  }

  @Actor
  public void one() {
    held.run();
  }

  @Actor
  public void other() {
    cell.sendMessage(2);
    held.run();
  }

  @Arbiter
  public void verdict(III_Result result) {
    result.r1 = count;
    result.r2 = twin;
    result.r3 = torn;
  }
}
