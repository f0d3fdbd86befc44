package io.fibry.engine.queue;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fibry.engine.queue.GuardedQueue.EnterResult;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import java.util.List;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A sender enters a bounded queue with a block of two while the pill is admitted and the door shut;
 * the queue is emptied later. Results: whether the sender was let in, how many wait, with the pill.
 */
@JCStressTest
@Outcome(id = "1, 3", expect = ACCEPTABLE, desc = "it came before the door was shut")
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "it came too late")
@Outcome(expect = FORBIDDEN, desc = "a phantom, a loss, half a block, or no pill")
@State
public class OfferAgainstPill {
  private final GuardedQueue<Integer> queue = new GuardedQueue<>(Mailbox.bounded(2, Overflow.REJECT));
  private EnterResult answer;

  public OfferAgainstPill() {
    queue.offer(RankedEntry.of(1, 1), true);
    queue.poll();
  }

  @Actor
  public void sender() {
    answer = queue.offer(QueueEntry.block(List.of(RankedEntry.of(2, 2), RankedEntry.of(3, 3))), true);
  }

  @Actor
  public void closer() {
    queue.admit(RankedEntry.last(0));
    queue.stopAccepting();
  }

  @Arbiter
  public void verdict(II_Result result) {
    result.r1 = answer == EnterResult.SHUT ? 0 : 1;
    while (queue.poll() != null) result.r2++;
  }
}
