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
 * Two neighbors among an actor's timers are removed, and then five older timers. The newest timer
 * and the oldest stay. Results: whether each of the two is in the list, and how many removed timers
 * are in it.
 */
@JCStressTest
@Outcome(id = {"1, 1, 0", "1, 1, 1", "1, 1, 2"}, expect = ACCEPTABLE, desc = "no timer was lost")
@Outcome(expect = FORBIDDEN, desc = "a timer was lost, or older removed timers stay")
@State
public class RemoveAgainstNeighbor {
  private final ActorTimers timers = new ActorTimers();
  private final StoredTimer oldest = new StoredTimer();
  private final StoredTimer[] older = new StoredTimer[5];
  private final StoredTimer second = new StoredTimer();
  private final StoredTimer third = new StoredTimer();
  private final StoredTimer newest = new StoredTimer();

  public RemoveAgainstNeighbor() {
    timers.add(oldest);
    for (int i = 0; i < older.length; i++) timers.add(older[i] = new StoredTimer());
    timers.add(second);
    timers.add(third);
    timers.add(newest);
  }

  @Actor
  public void remover() {
    timers.remove(second);
  }

  @Actor
  public void otherRemover() {
    timers.remove(third);
  }

  @Arbiter
  public void end(III_Result result) {
    for (int i = older.length - 1; i >= 0; i--) timers.remove(older[i]);
    for (var timer = timers.end(); timer != null; timer = timer.older) {
      if (timer == oldest) result.r1 = 1;
      else if (timer == newest) result.r2 = 1;
      else result.r3++;
    }
  }
}
