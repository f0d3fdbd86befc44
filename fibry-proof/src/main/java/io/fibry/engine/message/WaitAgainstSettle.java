package io.fibry.engine.message;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * A drain completes a request while its asker becomes the waiter. If neither thread saw the write
 * of the other, the asker would never wake, and jcstress would report a race that hangs. The asker
 * is a platform thread here, because jcstress does not run races on virtual threads. Result: the
 * answer.
 */
@JCStressTest
@Outcome(id = "7", expect = ACCEPTABLE, desc = "the asker found the answer, or was woken")
@Outcome(expect = FORBIDDEN, desc = "the asker woke without an answer")
@State
public class WaitAgainstSettle {
  private final RequestFuture<Integer> request = new RequestFuture<>(new FakeActor(), "message", null);

  @Actor
  public void drain() {
    request.begin();
    request.finish(7);
  }

  @Actor
  public void asker(I_Result result) {
    request.parkAsWaiter(Thread.currentThread());
    result.r1 = request.getNow(-1);
  }
}
