package io.fibry.engine.message;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Two handlers begin to wait for each other at the same time: each publishes its wait, then
 * searches for a cycle of waits. Results: for each of the two, 1 if it found the cycle.
 */
@JCStressTest
@Outcome(id = "0, 0", expect = FORBIDDEN, desc = "no handler found the cycle, so both would wait forever")
@Outcome(expect = ACCEPTABLE, desc = "at least one handler found the cycle")
@State
public class CycleClosedByTwo {
  private final FakeActor a = new FakeActor();
  private final FakeActor b = new FakeActor();
  private final RequestFuture<Object> requestToA = new RequestFuture<>(a, "request", null);
  private final RequestFuture<Object> requestToB = new RequestFuture<>(b, "request", null);

  @Actor
  public void first(II_Result result) {
    result.r1 = beginWait(a, b, requestToB);
  }

  @Actor
  public void second(II_Result result) {
    result.r2 = beginWait(b, a, requestToA);
  }

  /** Begins a wait as a handler of {@code waiter}; returns 1 if this wait found the cycle. */
  private static int beginWait(FakeActor waiter, FakeActor target, RequestFuture<Object> request) {
    var handler = new FakeActor.FakeHandler(waiter);
    handler.enter();
    waiter.publish(handler);
    return WaitCycle.findFor(Wait.begin(target, "request", request)) == null ? 0 : 1; // the wait is never closed
  }
}
