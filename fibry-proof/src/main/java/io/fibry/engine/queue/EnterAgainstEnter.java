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
 * Two senders enter a bounded queue that was full until one entry was polled. Results: how many
 * senders entered, and the number of waiting entries.
 */
@JCStressTest
@Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "one sender entered, the other did not")
@Outcome(expect = FORBIDDEN, desc = "both senders entered, or neither")
@State
public class EnterAgainstEnter {
  private final GuardedQueue<Integer> queue = new GuardedQueue<>(Mailbox.bounded(2, Overflow.REJECT));
  private boolean firstEntered;
  private boolean secondEntered;

  public EnterAgainstEnter() {
    queue.offer(QueueEntry.of(1), true);
    queue.offer(QueueEntry.of(2), true);
    queue.poll();
  }

  @Actor
  public void sender() {
    firstEntered = queue.enter(QueueEntry.of(3), true) == EnterResult.TAKEN;
  }

  @Actor
  public void otherSender() {
    secondEntered = queue.enter(QueueEntry.of(4), true) == EnterResult.TAKEN;
  }

  @Arbiter
  public void verdict(II_Result result) {
    result.r1 = (firstEntered ? 1 : 0) + (secondEntered ? 1 : 0);
    while (queue.poll() != null) result.r2++;
  }
}
