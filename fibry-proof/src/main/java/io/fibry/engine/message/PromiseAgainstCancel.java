package io.fibry.engine.message;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * A handler promises an answer while the asker cancels the request. Result: how often the actor was
 * notified that the asker has stopped waiting.
 */
@JCStressTest
@Outcome(id = "1", expect = ACCEPTABLE, desc = "notified by either thread")
@Outcome(expect = FORBIDDEN, desc = "not notified, or notified twice")
@State
public class PromiseAgainstCancel {
  private final FakeActor actor = new FakeActor();
  private final RequestFuture<Integer> request = new RequestFuture<>(actor, "message", null);

  public PromiseAgainstCancel() {
    request.begin();
  }

  @Actor
  public void drain() {
    request.markAnswered();
    actor.isPromised.setPlain(true);
    request.removePromiseIfSettled();
  }

  @Actor
  public void asker() {
    request.cancel(false);
  }

  @Arbiter
  public void verdict(I_Result result) {
    result.r1 = actor.abandonedCount.get();
  }
}
