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
 * A message entry enters a bounded queue while the holder of the right to run, which found it
 * empty, gives that right up and sends something itself. Results: how many have the right, how many
 * wait.
 */
@JCStressTest
@Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "one of them runs both")
@Outcome(expect = FORBIDDEN, desc = "no thread runs what waits, both do, or one was lost")
@State
public class EnterAgainstRelease {
  private final GuardedQueue<Object> queue =
      new GuardedQueue<>(Mailbox.bounded(2, Overflow.REJECT), System::nanoTime, (message, nothing) -> message);
  private boolean first;
  private boolean second;

  public EnterAgainstRelease() {
    queue.offer(QueueEntry.of(1), true);
    queue.poll();
  }

  private boolean send(QueueEntry<Object> entry) {
    var answer = queue.enter(entry, true);
    return (answer == null ? queue.offer(entry, true) : answer) == EnterResult.RUN;
  }

  @Actor
  public void sender() {
    first = send(MessageEntry.of(2, null));
  }

  @Actor
  public void holder() {
    boolean kept = !queue.release();
    second = send(QueueEntry.of(3)) || kept;
  }

  @Arbiter
  public void verdict(II_Result result) {
    result.r1 = (first ? 1 : 0) + (second ? 1 : 0);
    while (queue.poll() != null) result.r2++;
  }
}
