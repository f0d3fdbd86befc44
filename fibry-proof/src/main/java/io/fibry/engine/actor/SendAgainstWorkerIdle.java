package io.fibry.engine.actor;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fibry.engine.cell.Cell;
import io.fibry.engine.scope.StressActors;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;

/**
 * Two threads send to a pool of one worker, whose handler runs on the sending threads. One thread
 * sends while the worker becomes idle on the other thread. Each message is handled once, and a
 * handler sees the plain writes of the previous handler. Results: handled messages, the same number
 * by a second counter, handlers that saw different counters, and 1 if the pool is still busy,
 * otherwise 0.
 */
@JCStressTest
@Outcome(id = "4, 4, 0, 0", expect = ACCEPTABLE, desc = "all handled, one at a time, and the pool is idle")
@Outcome(expect = FORBIDDEN,
    desc = "a message is lost or handled twice, two handlers ran at the same time, or the pool is still busy")
@State
public class SendAgainstWorkerIdle {
  private int count; // count, secondCount and mismatches: written by handlers only
  private int secondCount;
  private int mismatches;
  private final ActorCell pool = (ActorCell) StressActors.pool(1, message -> {
    if (count != secondCount) mismatches++;
    count++;
    secondCount++;
  });

  @Actor
  public void firstSender() {
    pool.sendMessage(1);
    pool.sendMessage(2);
  }

  @Actor
  public void secondSender() {
    pool.sendMessage(3);
    pool.sendMessage(4);
  }

  @Arbiter
  public void verdict(IIII_Result result) {
    result.r1 = count;
    result.r2 = secondCount;
    result.r3 = mismatches;
    result.r4 = pool.workersAndSelf().stream().allMatch(Cell::isIdle) ? 0 : 1;
  }
}
