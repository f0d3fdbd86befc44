package io.fibry.flow;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZZ_Result;

/** A handler ends while its limit does. It sees its end, a second one, and the flag. */
@JCStressTest
@Outcome(id = "false, false, false", expect = ACCEPTABLE, desc = "in time")
@Outcome(id = "true, false, false", expect = ACCEPTABLE, desc = "interrupted, and the flag is cleared")
@Outcome(expect = FORBIDDEN, desc = "the interrupt reaches what comes next")
@State
public class LimitAgainstEnd {
  private volatile InterruptibleCall run;

  @Actor
  public void handler(ZZZ_Result result) {
    var mine = new InterruptibleCall(Thread.currentThread());
    run = mine;
    result.r1 = mine.end();
    result.r2 = mine.end();
    for (int i = 0; i < 20 && !result.r3; i++) result.r3 = Thread.currentThread().isInterrupted();
    Thread.interrupted();
  }

  @Actor
  public void limit() {
    for (int i = 0; i < 50; i++) {
      var found = run;
      if (found != null) {
        found.run();
        return;
      }
    }
  }
}
