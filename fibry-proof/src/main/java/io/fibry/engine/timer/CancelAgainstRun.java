package io.fibry.engine.timer;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * A sorted timer that repeats every hour is cancelled while the timer thread runs it. Results: the
 * number of runs, the state before the cancel, and the number of timers that stay in the queue.
 */
@JCStressTest
@Outcome(id = "0, 1, 0", expect = ACCEPTABLE, desc = "cancelled before the run, which did not begin")
@Outcome(id = "1, 2, 0", expect = ACCEPTABLE, desc = "cancelled during the run")
@Outcome(id = "1, 0, 0", expect = ACCEPTABLE, desc = "cancelled after the run")
@Outcome(expect = FORBIDDEN, desc = "the timer ran after its cancel, or stays")
@State
public class CancelAgainstRun {
  private static final long HOUR = 3_600_000_000_000L; // ns

  private final TimerQueue queue = new TimerQueue();
  private final TestTimer timer = new TestTimer(queue, System.nanoTime() - 1_000_000_000);

  public CancelAgainstRun() {
    queue.push(timer);
    queue.process(TimerQueue.PORTION);
    queue.removeFirst();
  }

  @Actor
  public void timerThread(III_Result result) {
    timer.runAgain(HOUR);
    result.r1 = timer.runs;
  }

  @Actor
  public void owner(III_Result result) {
    result.r2 = timer.cancelFrom();
  }

  @Arbiter
  public void end(III_Result result) {
    queue.beginSweep(0);
    queue.process(TimerQueue.PORTION);
    result.r3 = queue.size();
  }
}
