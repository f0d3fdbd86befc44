package io.fibry.net;

import io.fibry.Exitable;

/**
 * Decides how the end of a listener affects one of its connections, by the present phase of the
 * connection. The listener writes {@code shutdownBegun} and {@code headDeadline}, the conversation
 * the other fields. Each of them first writes its own fields and then reads the other fields, so at
 * least one of them notices the end.
 */
final class ConnectionShutdown {
  private volatile boolean shutdownBegun; // false -> true when the listener stops
  private volatile boolean idle; // between two requests, or during the TLS handshake
  private volatile boolean readingHead; // a request has begun, and its head is not read completely
  // nanoTime() at which an incomplete head is cut off; written before `shutdownBegun`
  private volatile long headDeadline;
  // ends only when asked to, such as an actor of events; null if there is none
  private volatile Exitable endlessActor;

  /**
   * Begins a phase in which closing the connection loses nothing. Returns false if the listener has
   * begun to stop.
   */
  boolean beginIdle() {
    idle = true;
    return !shutdownBegun;
  }

  void endIdle() {
    idle = false;
  }

  boolean isIdle() {
    return idle;
  }

  void beginHead() {
    readingHead = true;
  }

  /** Ends the reading of a head: from here on the request is handled, or refused. */
  void endHead() {
    readingHead = false;
  }

  boolean hasBegun() {
    return shutdownBegun;
  }

  /** Has this actor ended, too, when the listener stops. */
  void endOnShutdown(Exitable endlessActor) {
    this.endlessActor = endlessActor;
    if (shutdownBegun) end(endlessActor);
  }

  /** Called when the listener stops. Returns whether the connection is idle, and so ends now. */
  boolean beginShutdown(long headDeadline) {
    this.headDeadline = headDeadline;
    shutdownBegun = true;
    var actor = endlessActor;
    if (actor != null) end(actor);
    return idle;
  }

  private static void end(Exitable endlessActor) { // on another thread: its end may run code of a user
    Thread.ofVirtual().inheritInheritableThreadLocals(false).start(endlessActor::sendPoisonPill);
  }

  /** Returns whether the head of a request is incomplete, and its deadline has passed. */
  boolean isHeadOverdue(long now) {
    return readingHead && shutdownBegun && now - headDeadline >= 0;
  }
}
