package io.fibry.engine.timer;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Two timers are cancelled while the timer thread takes them from the inbox and sorts the first.
 * Between them, a third timer is started, which stays. Results: the number of timers that stay, and
 * whether the third timer is due first.
 */
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "the cancelled timers were removed")
@Outcome(expect = FORBIDDEN, desc = "a cancelled timer stays, or the third timer is lost")
@State
public class CancelAgainstTake {
  private static final long HOUR = 3_600_000_000_000L; // ns

  private final TimerQueue queue = new TimerQueue();
  private final TestTimer dueTimer = new TestTimer(queue, System.nanoTime() - HOUR);
  private final TestTimer hourTimer = new TestTimer(queue, System.nanoTime() + HOUR);
  private final TestTimer third = new TestTimer(queue, System.nanoTime() - HOUR);

  public CancelAgainstTake() {
    queue.push(dueTimer);
    queue.push(hourTimer);
  }

  @Actor
  public void timerThread() {
    queue.process(TimerQueue.PORTION);
  }

  @Actor
  public void owner() {
    dueTimer.cancel();
    queue.push(third);
    hourTimer.cancel();
  }

  @Arbiter
  public void end(II_Result result) {
    queue.process(TimerQueue.PORTION);
    queue.beginSweep(0);
    queue.process(TimerQueue.PORTION);
    result.r1 = queue.size();
    result.r2 = queue.first() == third ? 1 : 0;
  }
}
