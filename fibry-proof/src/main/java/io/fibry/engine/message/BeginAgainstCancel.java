package io.fibry.engine.message;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;

/**
 * A drain begins a request while its asker cancels it. Results: 1 if the drain began the request, 1
 * if the asker cancelled it, the withdrawals that the actor counted, and the value (-1 if
 * cancelled).
 */
@JCStressTest
@Outcome(id = "1, 0, 0, 7", expect = ACCEPTABLE, desc = "answered")
@Outcome(id = "1, 1, 0, -1", expect = ACCEPTABLE, desc = "cancelled while it was handled")
@Outcome(id = "0, 1, 1, -1", expect = ACCEPTABLE, desc = "cancelled while it waited, so its message is never handled")
@Outcome(expect = FORBIDDEN, desc = "two outcomes, or none")
@State
public class BeginAgainstCancel {
  private boolean hasBegun;
  private boolean cancelled;
  private final FakeActor actor = new FakeActor();
  private final RequestFuture<Integer> request = new RequestFuture<>(actor, "message", null);

  @Actor
  public void drain() {
    hasBegun = request.begin() != null;
    if (hasBegun) request.finish(7);
  }

  @Actor
  public void asker() {
    cancelled = request.cancel(true);
  }

  @Arbiter
  public void verdict(IIII_Result result) {
    result.r1 = hasBegun ? 1 : 0;
    result.r2 = cancelled ? 1 : 0;
    result.r3 = actor.withdrawnCount;
    result.r4 = request.isCancelled() ? -1 : request.join();
  }
}
