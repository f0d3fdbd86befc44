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
 * A sender waits for room in a full queue while another thread takes the element and shuts the
 * door. Results: whether the sender was admitted, the first polled entry, and how many are left.
 */
@JCStressTest
@Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "it was let in")
@Outcome(id = "0, 1, 0", expect = ACCEPTABLE, desc = "it was sent away")
@Outcome(expect = FORBIDDEN, desc = "a phantom, or a loss")
@State
public class BlockedOfferAgainstClose {
  private final GuardedQueue<Integer> queue = new GuardedQueue<>(Mailbox.bounded(1, Overflow.BLOCK));
  private boolean taken;
  private int first;

  public BlockedOfferAgainstClose() {
    queue.offer(RankedEntry.of(1, 1), true);
  }

  @Actor
  public void sender() {
    var entry = RankedEntry.of(2, 2);
    var answer = queue.offer(entry, true);
    taken = answer == EnterResult.TAKEN || answer == EnterResult.BLOCKED && queue.await(entry, () -> false);
  }

  @Actor
  public void closer() {
    first = queue.poll();
    queue.stopAccepting();
  }

  @Arbiter
  public void verdict(III_Result result) {
    result.r1 = taken ? 1 : 0;
    result.r2 = first;
    result.r3 = queue.poll() == null ? 0 : 1;
  }
}
