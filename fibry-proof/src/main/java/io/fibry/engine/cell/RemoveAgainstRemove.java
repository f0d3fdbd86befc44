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
 * Two neighbors among an actor's timers are removed, and a newer timer is set. The oldest timer and
 * the newest stay. Results: whether each of the two is in the list, and how many removed timers are
 * in it.
 */
@JCStressTest
@Outcome(id = {"1, 1, 0", "1, 1, 1"}, expect = ACCEPTABLE, desc = "no timer was lost")
@Outcome(expect = FORBIDDEN, desc = "a timer was lost, or all removed timers stay")
@State
public class RemoveAgainstRemove {
  private final ActorTimers timers = new ActorTimers();
  private final StoredTimer oldest = new StoredTimer();
  private final StoredTimer second = new StoredTimer();
  private final StoredTimer third = new StoredTimer();
  private final StoredTimer newest = new StoredTimer();

  public RemoveAgainstRemove() {
    timers.add(oldest);
    timers.add(second);
    timers.add(third);
  }

  @Actor
  public void remover() {
    timers.remove(second);
    timers.add(newest);
  }

  @Actor
  public void otherRemover() {
    timers.remove(third);
  }

  @Arbiter
  public void end(III_Result result) {
    for (var timer = timers.end(); timer != null; timer = timer.older) {
      if (timer == oldest) result.r1 = 1;
      else if (timer == newest) result.r2 = 1;
      else result.r3++;
    }
  }
}
