package io.fibry.net;

import io.fibry.Exitable;

/**
 * Decides how the end of a listener affects one of its connections, by the present phase of the
 * connection. The listener writes {@code begun}, the conversation the other fields; each writes
 * before it reads.
 */
final class ConnectionShutdown {
  private volatile boolean begun; // false -> true
  private volatile boolean idle; // between two requests, or before both sides agree
  private volatile boolean asking; // a request has begun, and its head is not read
  private volatile long lastHead; // when a head that is not read is waited for no more; written before `beginShutdown`
  private volatile Exitable endless; // null: none

  /** Between two requests nothing is lost by an end. Returns false if the end has come. */
  boolean beginIdle() {
    idle = true;
    return !begun;
  }

  void endIdle() {
    idle = false;
  }

  boolean isIdle() {
    return idle;
  }

  void beginHead() {
    asking = true;
  }

  /** After this call the request is handled, or refused. */
  void endHead() {
    asking = false;
  }

  boolean hasBegun() {
    return begun;
  }

  /** It also ends this. */
  void addEndless(Exitable endless) {
    this.endless = endless;
    if (begun) end(endless);
  }

  /** Whether the connection is idle, and ends now. */
  boolean beginShutdown(long lastHead) {
    this.lastHead = lastHead;
    begun = true;
    var actor = endless;
    if (actor != null) end(actor);
    return idle;
  }

  private static void end(Exitable endless) { // elsewhere: its end may run code of a user
    Thread.ofVirtual().inheritInheritableThreadLocals(false).start(endless::sendPoisonPill);
  }

  /** Whether the head of a request has not come, and is waited for no more. */
  boolean isHeadOverdue(long now) {
    return asking && begun && now - lastHead >= 0;
  }
}
