package io.fibry.flow;

import io.fibry.flow.CircuitBreaker.State;

/**
 * The state of a breaker, with its counters. Each change of the state begins a new period; a call
 * that began in an earlier period does not count. The monitor guards all fields; no other code is
 * called under it.
 */
final class CircuitState {
  enum StateChange { NONE, OPENED, CLOSED }

  static final long REFUSED = -1;

  private final boolean[] failures; // whether each of the latest calls failed; a ring buffer
  private final int minCalls;
  private final double rate;
  private final long pause; // ns
  private final int probes;

  private State state = State.CLOSED;
  private long period;
  private long periodStart; // ns; used while OPEN and HALF_OPEN
  private int calls; // calls in the ring buffer; in HALF_OPEN, probes that have begun
  private int failedCalls; // in the ring buffer
  private int successfulProbes;
  private int nextIndex; // in the ring buffer

  CircuitState(int window, int minCalls, double rate, long pause, int probes) {
    this.failures = new boolean[window];
    this.minCalls = minCalls;
    this.rate = rate;
    this.pause = pause;
    this.probes = probes;
  }

  synchronized State state() {
    return state;
  }

  /** Returns the period, which the end of the call needs, or REFUSED if the call must not begin. */
  synchronized long enter(long now) {
    // probes that never end must not keep the breaker half open for ever
    if (state != State.CLOSED && now - periodStart >= pause && (state == State.OPEN || calls == probes))
      begin(State.HALF_OPEN, now);
    if (state == State.OPEN || state == State.HALF_OPEN && calls == probes) return REFUSED;
    if (state == State.HALF_OPEN) calls++;
    return period;
  }

  synchronized StateChange leave(long callPeriod, long now, boolean failure) {
    if (callPeriod != period) return StateChange.NONE;
    if (state == State.HALF_OPEN) return endProbe(now, failure);
    add(failure);
    return calls >= minCalls && failedCalls >= rate * calls ? open(now) : StateChange.NONE;
  }

  /** Ends a call that does not count; another probe may take its place. */
  synchronized StateChange ignore(long callPeriod) {
    if (callPeriod == period && state == State.HALF_OPEN) calls--;
    return StateChange.NONE;
  }

  private StateChange endProbe(long now, boolean failure) {
    if (failure) return open(now);
    if (++successfulProbes < probes) return StateChange.NONE;
    begin(State.CLOSED, now);
    return StateChange.CLOSED;
  }

  private void add(boolean failure) {
    if (calls == failures.length && failures[nextIndex]) failedCalls--;
    if (calls < failures.length) calls++;
    failures[nextIndex] = failure;
    if (failure) failedCalls++;
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
