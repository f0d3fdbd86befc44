package io.fibry.engine.cell;

import io.fibry.FailurePolicy;
import io.fibry.engine.message.Deadline;
import java.util.ArrayDeque;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The restarts of one actor, or of one scope: how many there were lately, and how long to wait
 * before the next. Guarded by itself.
 */
public final class RestartBudget {
  public static final long OVER_BUDGET = -1;

  private final ArrayDeque<Long> lately = new ArrayDeque<>(); // when, by the clock of the scope
  private int doublings; // of the back-off, since the last calm
  private long last; // when the last one was to happen

  /** How many nanoseconds to wait before a restart that is due now, or that the budget is spent. */
  public synchronized long next(FailurePolicy policy, long now) {
    if (policy.budget != null && !spend(policy.budget, now)) return OVER_BUDGET;
    if (policy.backOff == null) return 0;
    long most = Deadline.nanos(policy.backOff.most());
    if (doublings > 0 && now - last > most) doublings = 0;
    long pause = Deadline.nanos(policy.backOff.first());
    for (int i = 0; i < doublings && pause < most; i++) pause = Math.min(most, 2 * pause);
    doublings++;
    // those that failed together shall not come back together
    pause -= ThreadLocalRandom.current().nextLong(pause / 2 + 1);
    last = now + pause;
    return Math.max(1, pause);
  }

  private boolean spend(FailurePolicy.Budget budget, long now) {
    while (!lately.isEmpty() && now - lately.getFirst() > Deadline.nanos(budget.within())) lately.removeFirst();
    if (lately.size() >= budget.restarts()) return false;
    lately.addLast(now);
    return true;
  }
}
