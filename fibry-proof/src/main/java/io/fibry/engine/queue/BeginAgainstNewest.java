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
 * The drain begins the last message that it had taken before, without the monitor. Meanwhile an
 * observer looks for the newest message, and tries to remove it. Results: 1 if the observer saw the
 * message, plus 2 if it removed the message, and the number of times that the message began, plus
 * 10 if the message seems to wait at the end.
 */
@JCStressTest
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the message had begun before")
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "the observer saw the message before it began")
@Outcome(expect = FORBIDDEN, desc = "the message began twice or never, or seems to wait forever")
@State
public class BeginAgainstNewest {
  private final GuardedQueue<Object> queue =
      new GuardedQueue<>(Mailbox.bounded(2, Overflow.REJECT), System::nanoTime, (message, unused) -> message);
  private final QueueEntry<Object> entry = MessageEntry.of(2, null);
  private boolean hasBegun;

  public BeginAgainstNewest() {
    queue.offer(MessageEntry.of(1, null), true);
    queue.offer(entry, true);
    queue.poll(); // takes both messages, and begins the first
  }

  @Actor
  public void drain() {
    hasBegun = queue.poll() != null;
  }

  @Actor
  public void observer(II_Result result) {
    result.r1 = queue.newest() == entry ? 1 : 0;
    if (queue.remove(entry)) result.r1 += 2;
  }

  @Arbiter
  public void verdict(II_Result result) {
    result.r2 = hasBegun ? 1 : 0;
    while (queue.poll() != null) result.r2++;
    if (queue.newest() != null || entry.isQueued()) result.r2 += 10;
  }
}
