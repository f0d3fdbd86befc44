package io.fibry.engine.actor;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fibry.engine.scope.StressActors;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;

/**
 * A send races with {@code close} of an idle actor: the thread that closes takes the right to run.
 * An accepted message (1) is handled or becomes a dead letter once; a refused message (0) is never
 * handled. The actor ends. Results: accepted, handled, dead letters, ended.
 */
@JCStressTest
@Outcome(id = "1, 1, 0, 1", expect = ACCEPTABLE, desc = "accepted and handled")
@Outcome(id = "1, 0, 1, 1", expect = ACCEPTABLE, desc = "accepted, then a dead letter")
@Outcome(id = "0, 0, 1, 1", expect = ACCEPTABLE, desc = "refused")
@Outcome(expect = FORBIDDEN, desc = "lost, handled twice, handled after a refusal, or no end")
@State
public class SendAgainstEndIdle {
  private final StressActors.Counted message = new StressActors.Counted();
  private final ActorCell cell =
      (ActorCell) StressActors.actor(Runnable::run, message -> ((StressActors.Counted) message).handled++);
  private boolean accepted;

  @Actor
  public void sender() {
    accepted = cell.sendMessage(message);
  }

  @Actor
  public void closer() {
    cell.close();
  }

  @Arbiter
  public void verdict(IIII_Result result) {
    result.r1 = accepted ? 1 : 0;
    result.r2 = message.handled;
    result.r3 = message.deadLetters;
    result.r4 = cell.onExit().isDone() ? 1 : 0;
  }
}
