package io.fibry.engine.cell;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * A timer fires while it is added to the timers of its actor. The other thread also adds a timer,
 * and removes the timer beside both. Results: whether the earlier timer, the other timer and the
 * fired timer are in the list.
 */
@JCStressTest
@Outcome(id = "1, 1, 0", expect = ACCEPTABLE, desc = "only the fired timer has left")
@Outcome(expect = FORBIDDEN, desc = "a timer was lost, or the fired timer is pending")
@State
public class RemoveAgainstAdd {
  private final ActorTimers timers = new ActorTimers();
  private final StoredTimer earlier = new StoredTimer();
  private final StoredTimer neighbor = new StoredTimer();
  private final StoredTimer other = new StoredTimer();
  private final StoredTimer fired = new StoredTimer();

  public RemoveAgainstAdd() {
    timers.add(earlier);
    timers.add(neighbor);
  }

  @Actor
  public void setter() {
    timers.add(fired);
  }

  @Actor
  public void otherThread() {
    timers.add(other);
    timers.remove(neighbor);
    timers.remove(fired);
  }

  @Arbiter
  public void end(III_Result result) {
    var found = StoredTimer.endOf(timers, earlier, other, fired);
    result.r1 = found[0] ? 1 : 0;
    result.r2 = found[1] ? 1 : 0;
    result.r3 = found[2] ? 1 : 0;
  }
}
