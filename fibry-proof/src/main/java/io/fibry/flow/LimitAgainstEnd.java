package io.fibry.flow;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZZ_Result;

/**
 * A handler ends its interruptible call, by calling {@code end} twice, while the limit of the call
 * expires. Results: the two values that {@code end} returned, and whether the interrupt flag of the
 * thread was set afterwards.
 */
@JCStressTest
@Outcome(id = "false, false, false", expect = ACCEPTABLE, desc = "the call ended before the limit")
@Outcome(id = "true, false, false", expect = ACCEPTABLE, desc = "interrupted, and the flag is cleared")
@Outcome(expect = FORBIDDEN, desc = "the interrupt reaches the code after the call")
@State
public class LimitAgainstEnd {
  private volatile InterruptibleCall call; // written by the handler, read by the limit

  @Actor
  public void handler(ZZZ_Result result) {
    var ownCall = new InterruptibleCall(Thread.currentThread());
    call = ownCall;
    result.r1 = ownCall.end();
    result.r2 = ownCall.end();
    for (int i = 0; i < 20 && !result.r3; i++) result.r3 = Thread.currentThread().isInterrupted();
    Thread.interrupted();
  }

  @Actor
  public void limit() {
    for (int i = 0; i < 50; i++) {
      var published = call;
      if (published != null) {
        published.run();
        return;
      }
    }
  }
}
