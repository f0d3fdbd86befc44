package io.fibry.engine.queue;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * An observer moves a waiting entry from the arrivals to the chain, while the drain checks both
 * without the monitor. Results: 1 if the drain polled the entry, 1 if it released the right to run,
 * and the number of entries that wait afterwards.
 */
@JCStressTest
@Outcome(id = "1, 0, 0", expect = ACCEPTABLE, desc = "the drain found the entry")
@Outcome(id = "0, 0, 1", expect = ACCEPTABLE, desc = "the drain missed the entry, and kept the right to run")
@Outcome(expect = FORBIDDEN, desc = "an entry waits, and no thread has the right to run")
@State
public class PollAgainstCollect {
  private final GuardedQueue<Object> queue =
      new GuardedQueue<>(Mailbox.bounded(2, Overflow.BLOCK), System::nanoTime, (message, unused) -> message);
  private boolean isPolled;
  private boolean isReleased;

  public PollAgainstCollect() {
    queue.offer(MessageEntry.of(1, null), true);
    queue.poll();
    queue.offer(MessageEntry.of(2, null), true);
  }

  @Actor
  public void observer() {
    queue.queued(9);
  }

  @Actor
  public void drain() {
    isPolled = queue.poll() != null;
    if (!isPolled) isReleased = queue.release();
  }

  @Arbiter
  public void verdict(III_Result result) {
    result.r1 = isPolled ? 1 : 0;
    result.r2 = isReleased ? 1 : 0;
    while (queue.poll() != null) result.r3++;
  }
}
