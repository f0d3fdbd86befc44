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
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * A sender waits for capacity in a full queue. Meanwhile another thread polls the queue's only
 * entry, and then the queue stops accepting entries. Results: 1 if the sender's entry was accepted,
 * the first polled entry, and the number of remaining entries.
 */
@JCStressTest
@Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "the entry was accepted")
@Outcome(id = "0, 1, 0", expect = ACCEPTABLE, desc = "the entry was refused")
@Outcome(expect = FORBIDDEN, desc = "a refused entry is in the queue, or an accepted entry is lost")
@State
public class BlockedOfferAgainstClose {
  private final GuardedQueue<Integer> queue = new GuardedQueue<>(Mailbox.bounded(1, Overflow.BLOCK));
  private boolean accepted;
  private int first;

  public BlockedOfferAgainstClose() {
    queue.offer(RankedEntry.of(1, 1), true);
  }

  @Actor
  public void sender() {
    var entry = RankedEntry.of(2, 2);
    var outcome = queue.offer(entry, true);
    accepted = outcome == EnterResult.TAKEN || outcome == EnterResult.BLOCKED && queue.await(entry, () -> false);
  }

  @Actor
  public void closer() {
    first = queue.poll();
    queue.stopAccepting();
  }

  @Arbiter
  public void verdict(III_Result result) {
    result.r1 = accepted ? 1 : 0;
    result.r2 = first;
    result.r3 = queue.poll() == null ? 0 : 1;
  }
}
