package io.fibry.engine.message;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Two handlers begin to wait for each other at once: each publishes, then looks for a ring.
 * Results: each found the ring.
 */
@JCStressTest
@Outcome(id = "0, 0", expect = FORBIDDEN, desc = "a ring that nobody found would never end")
@Outcome(expect = ACCEPTABLE, desc = "at least one found it")
@State
public class RingClosedByTwo {
  private final FakeActor a = new FakeActor();
  private final FakeActor b = new FakeActor();
  private final RequestFuture<Object> ofA = new RequestFuture<>(a, "request", null);
  private final RequestFuture<Object> ofB = new RequestFuture<>(b, "request", null);

  @Actor
  public void first(II_Result result) {
    result.r1 = waits(a, b, ofB);
  }

  @Actor
  public void second(II_Result result) {
    result.r2 = waits(b, a, ofA);
  }

  /** Waits as a handler of {@code by}; returns 1 if it found the ring. */
  private static int waits(FakeActor by, FakeActor on, RequestFuture<Object> asked) {
    var handler = new FakeActor.FakeHandler(by);
    handler.enter();
    by.publish(handler);
    return WaitCycle.findFor(Wait.begin(on, "request", asked)) == null ? 0 : 1; // not closed: it waits for ever
  }
}
