package io.fibry.net;

import io.fibry.Exitable;

/**
 * Decides how the end of a listener affects one of its connections, by the present phase of the
 * connection. The listener writes {@code come}, the conversation the other fields; each writes
 * before it reads.
 */
final class ConnectionShutdown {
  private volatile boolean come; // false -> true
  private volatile boolean idle; // between two requests, or before both sides agree
  private volatile boolean asking; // a request has begun, and its head is not read
  private volatile long lastHead; // when a head that is not read is waited for no more; written before `come`
  private volatile Exitable endless; // null: none

  /** Between two requests nothing is lost by an end. Returns false if the end has come. */
  boolean beginIdle() {
    idle = true;
    return !come;
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

  boolean hasCome() {
    return come;
  }

  /** It also ends this. */
  void ends(Exitable endless) {
    this.endless = endless;
    if (come) end(endless);
  }

  /** Whether the connection is idle, and ends now. */
  boolean come(long lastHead) {
    this.lastHead = lastHead;
    come = true;
    var actor = endless;
    if (actor != null) end(actor);
    return idle;
  }

  private static void end(Exitable endless) { // elsewhere: its end may run code of a user
    Thread.ofVirtual().inheritInheritableThreadLocals(false).start(endless::sendPoisonPill);
  }

  /** Whether the head of a request has not come, and is waited for no more. */
  boolean waitsInVain(long now) {
    return asking && come && now - lastHead >= 0;
  }
}
