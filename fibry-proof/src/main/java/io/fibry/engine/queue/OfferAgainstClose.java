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
 * A sender offers a block of two entries to a bounded queue. Meanwhile the holder of the right to
 * run lets the queue stop accepting, polls all entries and releases the right. Results: 1 if the
 * block was accepted, the number of polled entries, and the number of remaining entries.
 */
@JCStressTest
@Outcome(id = "1, 2, 0", expect = ACCEPTABLE, desc = "the block came before the queue stopped accepting")
@Outcome(id = "0, 0, 0", expect = ACCEPTABLE, desc = "the block came too late")
@Outcome(expect = FORBIDDEN, desc = "a refused entry is in the queue, or an entry or half a block is lost")
@State
public class OfferAgainstClose {
  private final GuardedQueue<Integer> queue = new GuardedQueue<>(Mailbox.bounded(2, Overflow.REJECT));
  private EnterResult outcome;
  private int polled;

  public OfferAgainstClose() {
    queue.offer(RankedEntry.of(1, 1), true);
    queue.poll();
  }

  @Actor
  public void sender() {
    outcome = queue.offer(QueueEntry.block(List.of(RankedEntry.of(2, 2), RankedEntry.of(3, 3))), true);
  }

  @Actor
  public void closer() {
    queue.stopAccepting();
    do {
      while (queue.poll() != null) polled++;
    } while (!queue.release());
  }

  @Arbiter
  public void verdict(III_Result result) {
    result.r1 = outcome == EnterResult.SHUT ? 0 : 1;
    result.r2 = polled;
    result.r3 = queue.size();
  }
}
