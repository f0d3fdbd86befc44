package io.fibry.engine.cell;

import io.fibry.FailurePolicy;
import io.fibry.engine.message.Deadline;
import io.fibry.time.Scheduler;
import java.util.ArrayDeque;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The recent restarts of one actor or scope, and the pause before the next restart. Guarded by
 * itself.
 */
public final class RestartBudget {
  public static final long EXCEEDED = -1;

  private final ArrayDeque<Long> restartTimes = new ArrayDeque<>(); // nanoseconds of the scope's clock
  // number of pauses in a row; 0 again once the actor has run longer than the maximum pause without
  // a restart
  private int pauses;
  private long lastPauseEnd; // when the last pause has ended or will end, in ns by the scope's clock

  /**
   * Counts a restart, or a resume with a backoff. Returns the nanoseconds to wait before it, or
   * EXCEEDED if the policy permits no further restart.
   */
  public synchronized long countRestart(FailurePolicy policy, Scheduler clock) {
    long now = clock.nanoTime();
    if (policy.budget().isPresent() && !trySpend(policy.budget().get(), now)) return EXCEEDED;
    if (policy.backoff().isEmpty()) return 0;
    long maxPause = Deadline.nanos(policy.backoff().get().max());
    if (pauses > 0 && now - lastPauseEnd > maxPause) pauses = 0;
    long pause = Deadline.nanos(policy.backoff().get().initial());
    for (int i = 0; i < pauses && pause < maxPause; i++) pause = Math.min(maxPause, 2 * pause);
    pauses++;
    // random, so that actors that failed together do not restart together; a test that advances
    // the clock has to know the pause
    if (!clock.isManual()) pause -= ThreadLocalRandom.current().nextLong(pause / 2 + 1);
    lastPauseEnd = now + pause;
    return Math.max(1, pause);
  }

  private boolean trySpend(FailurePolicy.Budget budget, long now) {
    while (!restartTimes.isEmpty() && now - restartTimes.getFirst() > Deadline.nanos(budget.period()))
      restartTimes.removeFirst();
    if (restartTimes.size() >= budget.maxRestarts()) return false;
    restartTimes.addLast(now);
    return true;
  }
}
