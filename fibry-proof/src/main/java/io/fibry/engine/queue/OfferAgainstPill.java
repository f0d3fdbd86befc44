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
 * A sender offers a block of two entries to a bounded queue. Meanwhile the pill is added, and the
 * queue stops accepting entries. Results: 1 if the block was accepted, and the number of entries in
 * the queue, including the pill.
 */
@JCStressTest
@Outcome(id = "1, 3", expect = ACCEPTABLE, desc = "the block came before the queue stopped accepting")
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the block came too late")
@Outcome(expect = FORBIDDEN, desc = "a refused entry is in the queue, or an entry, half a block or the pill is lost")
@State
public class OfferAgainstPill {
  private final GuardedQueue<Integer> queue = new GuardedQueue<>(Mailbox.bounded(2, Overflow.REJECT));
  private EnterResult outcome;

  public OfferAgainstPill() {
    queue.offer(RankedEntry.of(1, 1), true);
    queue.poll();
  }

  @Actor
  public void sender() {
    outcome = queue.offer(QueueEntry.block(List.of(RankedEntry.of(2, 2), RankedEntry.of(3, 3))), true);
  }

  @Actor
  public void closer() {
    queue.admit(RankedEntry.ofPill(0));
    queue.stopAccepting();
  }

  @Arbiter
  public void verdict(II_Result result) {
    result.r1 = outcome == EnterResult.SHUT ? 0 : 1;
    while (queue.poll() != null) result.r2++;
  }
}
