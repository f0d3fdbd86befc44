package io.fibry.engine.cell;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * A timer is set, and another is removed, while the actor ends. Results: whether the set timer was
 * accepted, whether the end found it, and whether the end found the oldest timer.
 */
@JCStressTest
@Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "set before the end")
@Outcome(id = "0, 0, 1", expect = ACCEPTABLE, desc = "refused")
@Outcome(expect = FORBIDDEN, desc = "a timer was lost")
@State
public class TimerAgainstEnd {
  private final ActorTimers timers = new ActorTimers();
  private final StoredTimer oldest = new StoredTimer();
  private final StoredTimer removed = new StoredTimer();
  private final StoredTimer added = new StoredTimer();

  public TimerAgainstEnd() {
    timers.add(oldest);
    timers.add(removed);
  }

  @Actor
  public void setter(III_Result result) {
    result.r1 = timers.add(added) ? 1 : 0;
    timers.remove(removed);
  }

  @Actor
  public void ender(III_Result result) {
    var found = StoredTimer.endOf(timers, added, oldest);
    result.r2 = found[0] ? 1 : 0;
    result.r3 = found[1] ? 1 : 0;
  }
}
