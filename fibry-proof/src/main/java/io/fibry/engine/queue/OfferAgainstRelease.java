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
 * A sender offers an entry to an empty bounded queue while the holder of the right to run releases
 * this right. Results: 1 if the sender got the right to run, 1 if the holder still has it, and the
 * first waiting entry.
 */
@JCStressTest
@Outcome(id = "0, 1, 2", expect = ACCEPTABLE, desc = "the entry came before the release")
@Outcome(id = "1, 0, 2", expect = ACCEPTABLE, desc = "the entry came after the release")
@Outcome(expect = FORBIDDEN, desc = "no thread has the right to run, or two threads have it")
@State
public class OfferAgainstRelease {
  private final GuardedQueue<Integer> queue = new GuardedQueue<>(Mailbox.bounded(1, Overflow.REJECT));
  private EnterResult outcome;
  private boolean released;

  public OfferAgainstRelease() {
    queue.offer(RankedEntry.of(1, 1), true);
    queue.poll();
  }

  @Actor
  public void sender() {
    outcome = queue.offer(RankedEntry.of(2, 2), true);
  }

  @Actor
  public void holder() {
    released = queue.release();
  }

  @Arbiter
  public void verdict(III_Result result) {
    result.r1 = outcome == EnterResult.RUN ? 1 : 0;
    result.r2 = released ? 0 : 1;
    result.r3 = queue.poll();
  }
}
