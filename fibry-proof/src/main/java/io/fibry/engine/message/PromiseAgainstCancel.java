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
 * A handler promises an answer while the asker takes the request back. The listener is told once
 * that the request is given up.
 */
@JCStressTest
@Outcome(id = "1", expect = ACCEPTABLE, desc = "told by one of both")
@Outcome(expect = FORBIDDEN, desc = "not told, or twice")
@State
public class PromiseAgainstCancel {
  private final FakeActor actor = new FakeActor();
  private final RequestFuture<Integer> asked = new RequestFuture<>(actor, "message", null);

  public PromiseAgainstCancel() {
    asked.begin();
  }

  @Actor
  public void drain() {
    asked.markAnswered();
    actor.promised.setPlain(true);
    asked.checkAbandoned();
  }

  @Actor
  public void asker() {
    asked.cancel(false);
  }

  @Arbiter
  public void verdict(I_Result result) {
    result.r1 = actor.told.get();
  }
}
