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
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * An entry is removed while it enters a bounded queue. Results: 1 if it was removed, and the number
 * of waiting entries.
 */
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "the entry was in the queue, and was removed")
@Outcome(id = "0, 2", expect = ACCEPTABLE, desc = "the entry was not yet in the queue")
@Outcome(expect = FORBIDDEN, desc = "a removed entry waits, or another entry was removed with it")
@State
public class EnterAgainstRemove {
  private final GuardedQueue<Integer> queue = new GuardedQueue<>(Mailbox.bounded(2, Overflow.REJECT));
  private final QueueEntry<Integer> entry = QueueEntry.of(2);
  private boolean removed;

  public EnterAgainstRemove() {
    queue.offer(QueueEntry.of(1), true);
  }

  @Actor
  public void sender() {
    queue.enter(entry, true);
  }

  @Actor
  public void remover() {
    removed = queue.remove(entry);
  }

  @Arbiter
  public void verdict(II_Result result) {
    result.r1 = removed ? 1 : 0;
    while (queue.poll() != null) result.r2++;
  }
}
