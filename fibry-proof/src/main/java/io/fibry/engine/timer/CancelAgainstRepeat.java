package io.fibry.engine.timer;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * A repeated timer is cancelled while the timer thread runs it, starts it again, and sorts it.
 * Result: the number of timers that stay in the queue.
 */
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "the cancelled timer was removed")
@Outcome(expect = FORBIDDEN, desc = "the cancelled timer stays")
@State
public class CancelAgainstRepeat {
  private final TimerQueue queue = new TimerQueue();
  private final TestTimer timer = new TestTimer(queue, System.nanoTime() - 1_000_000_000);

  public CancelAgainstRepeat() {
    queue.push(timer);
    queue.process(TimerQueue.PORTION);
    queue.removeFirst();
  }

  @Actor
  public void timerThread() {
    timer.runAgain(0);
    queue.process(TimerQueue.PORTION);
  }

  @Actor
  public void owner() {
    timer.cancel();
  }

  @Arbiter
  public void end(I_Result result) {
    queue.process(TimerQueue.PORTION);
    queue.beginSweep(0);
    queue.process(TimerQueue.PORTION);
    result.r1 = queue.size();
  }
}
