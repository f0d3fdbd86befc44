package io.fibry.engine.jvm;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A fiber runs a task while the starter cancels the task. Afterwards a helper tries to run the
 * task. Results: how often the task ran, and 1 if the starter cancelled it.
 */
@JCStressTest
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "the task ran once")
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the task was cancelled, and did not run")
@Outcome(expect = FORBIDDEN, desc = "the task ran twice, or ran and was cancelled, or neither")
@State
public class AssuredOnce {
  private int runs; // written by the thread that claimed the task
  private final GuaranteedStart start = new GuaranteedStart(() -> runs++);

  @Actor
  public void fiber() {
    start.run();
  }

  @Actor
  public void starter(II_Result result) {
    result.r2 = start.compareAndSet(false, true) ? 1 : 0;
  }

  @Arbiter
  public void helper(II_Result result) {
    start.run();
    result.r1 = runs;
  }
}
