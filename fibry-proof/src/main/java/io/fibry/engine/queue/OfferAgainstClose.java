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
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * A sender enters a bounded queue with a block of two entries. Meanwhile the holder of the right to
 * run shuts the door, empties the queue and gives the right up. Results: whether the sender was let
 * in, how many were emptied out, how many are left.
 */
@JCStressTest
@Outcome(id = "1, 2, 0", expect = ACCEPTABLE, desc = "it came before the door was shut")
@Outcome(id = "0, 0, 0", expect = ACCEPTABLE, desc = "it came too late")
@Outcome(expect = FORBIDDEN, desc = "a phantom, a loss, or half a block")
@State
public class OfferAgainstClose {
  private final GuardedQueue<Integer> queue = new GuardedQueue<>(Mailbox.bounded(2, Overflow.REJECT));
  private EnterResult answer;
  private int emptied;

  public OfferAgainstClose() {
    queue.offer(RankedEntry.of(1, 1), true);
    queue.poll();
  }

  @Actor
  public void sender() {
    answer = queue.offer(QueueEntry.block(List.of(RankedEntry.of(2, 2), RankedEntry.of(3, 3))), true);
  }

  @Actor
  public void closer() {
    queue.stopAccepting();
    do {
      while (queue.poll() != null) emptied++;
    } while (!queue.release());
  }

  @Arbiter
  public void verdict(III_Result result) {
    result.r1 = answer == EnterResult.SHUT ? 0 : 1;
    result.r2 = emptied;
    result.r3 = queue.size();
  }
}
