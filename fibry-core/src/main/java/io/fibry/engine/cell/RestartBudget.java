package io.fibry.engine.cell;

import io.fibry.FailurePolicy;
import io.fibry.engine.message.Deadline;
import java.util.ArrayDeque;
import java.util.concurrent.ThreadLocalRandom;

/** The recent restarts of one actor or scope, and the message given again. Guarded by itself. */
public final class RestartBudget {
  public static final long EXCEEDED = -1;

  private final ArrayDeque<Long> recent = new ArrayDeque<>(); // by the clock of the scope
  private int doublings; // of the back-off
  private long last; // when the last restart was due
  private volatile Object given; // the last node to be given again; written by the actor's drain
  private int times; // how often; the drain only

  /** Nanoseconds to wait, or EXCEEDED. */
  public synchronized long next(FailurePolicy policy, long now) {
    if (policy.budget().isPresent() && !spend(policy.budget().get(), now)) return EXCEEDED;
    if (policy.backoff().isEmpty()) return 0;
    long most = Deadline.nanos(policy.backoff().get().max());
    if (doublings > 0 && now - last > most) doublings = 0;
    long pause = Deadline.nanos(policy.backoff().get().initial());
    for (int i = 0; i < doublings && pause < most; i++) pause = Math.min(most, 2 * pause);
    doublings++;
    pause -= ThreadLocalRandom.current().nextLong(pause / 2 + 1); // actors that failed together restart apart
    last = now + pause;
    return Math.max(1, pause);
  }

  /** Counts, unless it was given again {@code most} times. */
  int countRedelivery(Object node, int most) {
    if (given != node) times = 0;
    given = times < most ? node : null;
    return given == null ? times = 0 : ++times;
  }

  boolean isRedelivery(Object node) {
    return given == node;
  }

  private boolean spend(FailurePolicy.Budget budget, long now) {
    while (!recent.isEmpty() && now - recent.getFirst() > Deadline.nanos(budget.period())) recent.removeFirst();
    if (recent.size() >= budget.maxRestarts()) return false;
    recent.addLast(now);
    return true;
  }
}
