package io.fibry.flow;

import io.fibry.flow.CircuitBreaker.BreakerStats;
import io.fibry.flow.CircuitBreaker.State;

/**
 * The state of a breaker, with its counters. Each change of the state begins a new period. A new
 * period also begins when a half-open breaker permits new probes. A call that began in an earlier
 * period does not affect the state; only the statistics count it. The monitor guards all fields. No
 * code of other classes runs under it.
 */
final class CircuitState {
  enum StateChange { NONE, OPENED, CLOSED }

  // results of `enter` in place of the number of a period, which is 0 or more
  static final long REFUSED_OPEN = -1;
  static final long REFUSED_HALF_OPEN = -2;

  private final boolean[] failures; // a ring buffer: for each of the latest calls, whether it failed
  private final int minCalls;
  private final double failureRate;
  private final long pause; // ns
  private final int probes;

  private State state = State.CLOSED;
  private long period; // the number of the current period
  private long periodStart; // time of the clock, in ns; used while OPEN and HALF_OPEN
  private int calls; // calls in the ring buffer; in HALF_OPEN, probes that have begun
  private int failedCalls; // failed calls in the ring buffer
  private int successfulProbes;
  private long permitted; // all calls that have begun
  private long failed; // all calls that have failed
  private long refused; // all calls that were refused
  private int nextIndex; // where the result of the next call is stored in the ring buffer

  CircuitState(int windowSize, int minCalls, double failureRate, long pause, int probes) {
    this.failures = new boolean[windowSize];
    this.minCalls = minCalls;
    this.failureRate = failureRate;
    this.pause = pause;
    this.probes = probes;
  }

  synchronized State state() {
    return state;
  }

  synchronized BreakerStats stats() {
    return new BreakerStats(permitted, failed, refused);
  }

  /**
   * Returns the number of the current period, which the call passes to {@code leave} or
   * {@code ignore}. If the call must not begin, returns {@code REFUSED_OPEN} or
   * {@code REFUSED_HALF_OPEN}, by the state that refuses it.
   */
  synchronized long enter(long now) {
    // probes that do not end must not keep the breaker half open forever, so new probes may begin
    // after another pause
    if (state != State.CLOSED && now - periodStart >= pause && (state == State.OPEN || calls == probes))
      begin(State.HALF_OPEN, now);
    if (state == State.OPEN || state == State.HALF_OPEN && calls == probes) {
      refused++;
      return state == State.OPEN ? REFUSED_OPEN : REFUSED_HALF_OPEN;
    }
    permitted++;
    if (state == State.HALF_OPEN) calls++;
    return period;
  }

  synchronized StateChange leave(long callPeriod, long now, boolean hasFailed) {
    if (hasFailed) failed++;
    if (callPeriod != period) return StateChange.NONE;
    if (state == State.HALF_OPEN) return endProbe(now, hasFailed);
    add(hasFailed);
    return calls >= minCalls && failedCalls / (double) calls >= failureRate ? open(now) : StateChange.NONE;
  }

  /**
   * Ends a call that does not count, and never changes the state. If the call was a probe, another
   * probe may begin.
   */
  synchronized StateChange ignore(long callPeriod) {
    if (callPeriod == period && state == State.HALF_OPEN) calls--;
    return StateChange.NONE;
  }

  private StateChange endProbe(long now, boolean hasFailed) {
    if (hasFailed) return open(now);
    if (++successfulProbes < probes) return StateChange.NONE;
    begin(State.CLOSED, now);
    return StateChange.CLOSED;
  }

  private void add(boolean hasFailed) {
    if (calls == failures.length && failures[nextIndex]) failedCalls--;
    if (calls < failures.length) calls++;
    failures[nextIndex] = hasFailed;
    if (hasFailed) failedCalls++;
    nextIndex = (nextIndex + 1) % failures.length;
  }

  private StateChange open(long now) {
    begin(State.OPEN, now);
    return StateChange.OPENED;
  }

  private void begin(State state, long now) {
    this.state = state;
    periodStart = now;
    period++;
    calls = 0;
    failedCalls = 0;
    successfulProbes = 0;
    nextIndex = 0;
  }
}
