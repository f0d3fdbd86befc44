package io.fibry.engine.timer;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A timer is cancelled while the timer thread takes it from the inbox, sorts it and fires it.
 * Results: whether it ran, and whether the cancel succeeded.
 */
@JCStressTest
@Outcome(id = {"1, 0", "0, 1"}, expect = ACCEPTABLE, desc = "the timer ran, or was cancelled")
@Outcome(expect = FORBIDDEN, desc = "both or none")
@State
public class CancelAgainstFire {
  private final TimerQueue queue = new TimerQueue();
  private final TestTimer timer = new TestTimer(queue, System.nanoTime() - 1_000_000_000);

  public CancelAgainstFire() {
    queue.push(timer);
  }

  @Actor
  public void timerThread(II_Result result) {
    queue.process(TimerQueue.PORTION);
    var first = queue.first();
    if (first != null) first.fire();
    result.r1 = timer.runs;
  }

  @Actor
  public void owner(II_Result result) {
    result.r2 = timer.cancel() ? 1 : 0;
  }
}
