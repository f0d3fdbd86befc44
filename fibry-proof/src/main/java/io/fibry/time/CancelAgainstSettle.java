package io.fibry.time;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * A timer is cancelled while the timer thread takes it from the inbox. Result: the number of timers
 * that stay in the queue.
 */
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "the cancelled timer was removed")
@Outcome(expect = FORBIDDEN, desc = "the cancelled timer stays until it is due")
@State
public class CancelAgainstSettle {
  private static final long HOUR = 3_600_000_000_000L; // ns

  private final SystemScheduler clock = new SystemScheduler();
  private final SystemScheduler.QueuedTask timer = clock.new QueuedTask(() -> {}, HOUR, 0);

  public CancelAgainstSettle() {
    clock.inbox.add(timer);
  }

  @Actor
  public void timerThread() {
    clock.processInbox();
  }

  @Actor
  public void owner() {
    timer.cancel();
  }

  @Arbiter
  public void end(I_Result result) {
    clock.processInbox();
    result.r1 = clock.queue.size();
  }
}
