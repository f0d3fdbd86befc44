package io.fibry.engine.jvm;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A fiber runs a task, whose starter gives it up; then a helper comes. It runs once, or not. */
@JCStressTest
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "run once")
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "given up, and not run")
@Outcome(expect = FORBIDDEN, desc = "run twice, or both")
@State
public class AssuredOnce {
  private int runs; // by the thread that claimed the task
  private final GuaranteedStart assured = new GuaranteedStart(() -> runs++);

  @Actor
  public void fiber() {
    assured.run();
  }

  @Actor
  public void starter(II_Result result) {
    result.r2 = assured.compareAndSet(false, true) ? 1 : 0;
  }

  @Arbiter
  public void helper(II_Result result) {
    assured.run();
    result.r1 = runs;
  }
}
