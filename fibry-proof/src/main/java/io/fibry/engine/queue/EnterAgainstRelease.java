package io.fibry.engine.queue;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fibry.engine.queue.GuardedQueue.EnterResult;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A sender enters a message into an empty bounded queue. Meanwhile the holder of the right to run
 * releases the right, and then sends a message itself. Results: how many of the two threads have
 * the right to run, and the number of waiting entries.
 */
@JCStressTest
@Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "one thread will handle both messages")
@Outcome(expect = FORBIDDEN, desc = "no thread has the right to run, both have it, or a message is lost")
@State
public class EnterAgainstRelease {
  private final GuardedQueue<Object> queue =
      new GuardedQueue<>(Mailbox.bounded(2, Overflow.REJECT), System::nanoTime, (message, unused) -> message);
  private boolean senderMayRun;
  private boolean holderMayRun;

  public EnterAgainstRelease() {
    queue.offer(QueueEntry.of(1), true);
    queue.poll();
  }

  private boolean send(QueueEntry<Object> entry) {
    var outcome = queue.enter(entry, true);
    return (outcome == null ? queue.offer(entry, true) : outcome) == EnterResult.RUN;
  }

  @Actor
  public void sender() {
    senderMayRun = send(MessageEntry.of(2, null));
  }

  @Actor
  public void holder() {
    boolean isReleased = queue.release();
    holderMayRun = send(QueueEntry.of(3)) || !isReleased;
  }

  @Arbiter
  public void verdict(II_Result result) {
    result.r1 = (senderMayRun ? 1 : 0) + (holderMayRun ? 1 : 0);
    while (queue.poll() != null) result.r2++;
  }
}
