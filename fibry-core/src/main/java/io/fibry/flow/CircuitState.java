package io.fibry.flow;

import io.fibry.flow.CircuitBreaker.State;

/**
 * The states of a breaker. Each change begins a period; a call that began in an earlier one says
 * nothing about this one. Guarded by itself; calls no other code.
 */
final class CircuitState {
  enum StateChange { NONE, OPENED, CLOSED }

  static final long REFUSED = -1;

  private final boolean[] failures; // of the latest calls, a ring
  private final int minCalls;
  private final double rate;
  private final long pause;
  private final int probes;

  private State state = State.CLOSED;
  private long period;
  private long since; // when it began; OPEN and HALF_OPEN only
  private int calls; // in the ring, or probes begun
  private int failed; // in the ring
  private int succeeded; // probes
  private int next; // in the ring

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

  /** Returns the period, for the end of the call, or REFUSED. */
  synchronized long enter(long now) {
    // probes that never end must not keep it half open for ever
    if (state != State.CLOSED && now - since >= pause && (state == State.OPEN || calls == probes))
      begin(State.HALF_OPEN, now);
    if (state == State.OPEN || state == State.HALF_OPEN && calls == probes) return REFUSED;
    if (state == State.HALF_OPEN) calls++;
    return period;
  }

  synchronized StateChange leave(long entered, long now, boolean failure) {
    if (entered != period) return StateChange.NONE;
    if (state == State.HALF_OPEN) return endProbe(now, failure);
    add(failure);
    return calls >= minCalls && failed >= rate * calls ? open(now) : StateChange.NONE;
  }

  /** The call says nothing about the service. */
  synchronized StateChange ignore(long entered) {
    if (entered == period && state == State.HALF_OPEN) calls--;
    return StateChange.NONE;
  }

  private StateChange endProbe(long now, boolean failure) {
    if (failure) return open(now);
    if (++succeeded < probes) return StateChange.NONE;
    begin(State.CLOSED, now);
    return StateChange.CLOSED;
  }

  private void add(boolean failure) {
    if (calls == failures.length && failures[next]) failed--;
    if (calls < failures.length) calls++;
    failures[next] = failure;
    if (failure) failed++;
    next = (next + 1) % failures.length;
  }

  private StateChange open(long now) {
    begin(State.OPEN, now);
    return StateChange.OPENED;
  }

  private void begin(State state, long now) {
    this.state = state;
    since = now;
    period++;
    calls = 0;
    failed = 0;
    succeeded = 0;
    next = 0;
  }
}
