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
 * A sender finds a full queue, and joins the blocked senders. Meanwhile the drain begins a message
 * that it had taken before, and so makes space without the monitor. Results: 1 if the sender is
 * blocked, and the number of waiting entries.
 */
@JCStressTest
@Outcome(id = "0, 2", expect = ACCEPTABLE, desc = "the entry was let in by the sender or by the drain")
@Outcome(expect = FORBIDDEN, desc = "the sender is blocked although its entry fits, or an entry is lost")
@State
public class BeginAgainstBlock {
  private final GuardedQueue<Object> queue =
      new GuardedQueue<>(Mailbox.bounded(2, Overflow.BLOCK), System::nanoTime, (message, unused) -> message);
  private final QueueEntry<Object> entry = MessageEntry.of(4, null);

  public BeginAgainstBlock() {
    queue.offer(MessageEntry.of(1, null), true);
    queue.offer(MessageEntry.of(2, null), true);
    queue.poll(); // takes both messages, and begins the first
    queue.offer(MessageEntry.of(3, null), true);
  }

  @Actor
  public void sender() {
    queue.offer(entry, true);
  }

  @Actor
  public void drain() {
    queue.poll();
  }

  @Arbiter
  public void verdict(II_Result result) {
    result.r1 = entry.isBlocked() ? 1 : 0;
    while (queue.poll() != null) result.r2++;
  }
}
