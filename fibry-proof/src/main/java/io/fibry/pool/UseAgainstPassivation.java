package io.fibry.pool;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A use of an entity against its passivation. A user that entered (1) hands over before the pill,
 * and the sweeper sees it, both by plain fields. A user that finds the entity gone (0) uses the
 * next life.
 */
@JCStressTest
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "used, so not passivated")
@Outcome(id = {"1, 1", "0, 1"}, expect = ACCEPTABLE, desc = "passivated, and nothing came after the pill")
@Outcome(expect = FORBIDDEN,
    desc = "handed over after the pill (2), unseen by its sender (2), or refused without a pill")
@State
public class UseAgainstPassivation {
  private final Entity<String, String> entity = new Entity<>("key", 0);
  private boolean pill; // written by the sweeper, after GONE
  private int handed;
  private int used;
  private int swept;
  private int seen;

  public UseAgainstPassivation() {
    entity.leave(0);
  }

  @Actor
  public void user() {
    if (!entity.enter()) return;
    used = pill ? 2 : 1;
    handed = 1;
    entity.leave(1);
  }

  @Actor
  public void sweeper() {
    long word = entity.word();
    if (Entity.isUsed(word) || !entity.passivate(word)) return;
    pill = true;
    seen = handed;
    swept = 1;
  }

  @Arbiter
  public void verdict(II_Result result) {
    result.r1 = used;
    result.r2 = swept == 1 && seen != handed ? 2 : swept;
  }
}
