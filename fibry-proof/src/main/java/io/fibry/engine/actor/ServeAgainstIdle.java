package io.fibry.engine.actor;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fibry.engine.cell.Cell;
import io.fibry.engine.scope.Stage;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;

/**
 * Two threads send to a pool of one worker, and run it in turn: one sends while the other goes
 * idle. Each message is begun once, and a handler sees the plain writes of the one before.
 */
@JCStressTest
@Outcome(id = "4, 4, 0, 0", expect = ACCEPTABLE, desc = "all handled, one at a time, and all is idle")
@Outcome(expect = FORBIDDEN, desc = "lost, twice, or two at once")
@State
public class ServeAgainstIdle {
  private int count; // this and the next two: used by handlers only
  private int twin;
  private int torn;
  private final ActorCell pool = (ActorCell) Stage.pool(1, message -> {
    if (count != twin) torn++;
    count++;
    twin++;
  });

  @Actor
  public void one() {
    pool.sendMessage(1);
    pool.sendMessage(2);
  }

  @Actor
  public void other() {
    pool.sendMessage(3);
    pool.sendMessage(4);
  }

  @Arbiter
  public void verdict(IIII_Result result) {
    result.r1 = count;
    result.r2 = twin;
    result.r3 = torn;
    result.r4 = pool.workersAndSelf().stream().allMatch(Cell::isIdle) ? 0 : 1;
  }
}
