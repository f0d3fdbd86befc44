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
 * A thread uses an entity while the sweeper passivates it. A user that entered (1) sends its
 * message before the pill, and the sweeper sees that message. Both threads use plain fields. A user
 * that finds the entity passivated (0) would use its next incarnation. Results: 1 if the entity was
 * used, 1 if it was passivated.
 */
@JCStressTest
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "used, and therefore not passivated")
@Outcome(id = {"1, 1", "0, 1"}, expect = ACCEPTABLE, desc = "passivated, and no message came after the pill")
@Outcome(expect = FORBIDDEN,
    desc = "sent after the pill (2, x), unseen by the sweeper (x, 2), or refused without a pill")
@State
public class UseAgainstPassivation {
  private final Entity<String, String> entity = new Entity<>("key", 0);
  private boolean pillSent; // written by the sweeper, after it has set GONE
  private int messageCount; // 1 after the user has sent a message
  private int used;
  private int swept;
  private int seenCount; // the value of `messageCount` that the sweeper read

  public UseAgainstPassivation() {
    entity.leave(0);
  }

  @Actor
  public void user() {
    if (!entity.enter()) return;
    used = pillSent ? 2 : 1;
    messageCount = 1;
    entity.leave(1);
  }

  @Actor
  public void sweeper() {
    long useState = entity.useState();
    if (Entity.isUsed(useState) || !entity.passivate(useState)) return;
    pillSent = true;
    seenCount = messageCount;
    swept = 1;
  }

  @Arbiter
  public void verdict(II_Result result) {
    result.r1 = used;
    result.r2 = swept == 1 && seenCount != messageCount ? 2 : swept;
  }
}
