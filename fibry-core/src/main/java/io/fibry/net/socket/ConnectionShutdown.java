package io.fibry.net.socket;

import io.fibry.Exitable;

/**
 * Decides how the end of a listener affects one of its connections, by the present phase of the
 * connection. The listener writes {@code hasBegun} and {@code headDeadline}; the conversation
 * writes the other fields. Each side first writes its own fields and then reads the other side's
 * fields, so at least one side notices the end.
 */
public final class ConnectionShutdown {
  private volatile boolean hasBegun; // false -> true when the listener stops
  private volatile boolean isIdle; // whether the connection waits for a request, or is in the TLS handshake
  private volatile boolean isReadingHead; // whether a request has begun whose head is not read completely
  // nanoTime() at which an incomplete head is cut off; written before `hasBegun`
  private volatile long headDeadline;
  // an actor of the connection that ends only when asked to, such as an event actor; null if there
  // is none
  private volatile Exitable endlessActor;

  ConnectionShutdown() {}

  /**
   * Begins a phase in which closing the connection loses nothing. Returns false if the listener has
   * begun to stop.
   */
  public boolean beginIdle() {
    isIdle = true;
    return !hasBegun;
  }

  public void endIdle() {
    isIdle = false;
  }

  boolean isIdle() {
    return isIdle;
  }

  public void beginHead() {
    isReadingHead = true;
  }

  /** Called when the head was read, before the request is handled. */
  public void endHead() {
    isReadingHead = false;
  }

  public boolean hasBegun() {
    return hasBegun;
  }

  /** Makes this actor end when the listener stops, or now if the listener has begun to stop. */
  public void endOnShutdown(Exitable endlessActor) {
    this.endlessActor = endlessActor;
    if (hasBegun) end(endlessActor);
  }

  /**
   * Called when the listener stops. Returns whether the connection is idle, and therefore ends now.
   */
  boolean beginShutdown(long headDeadline) {
    this.headDeadline = headDeadline;
    hasBegun = true;
    var actor = endlessActor;
    if (actor != null) end(actor);
    return isIdle;
  }

  private static void end(Exitable endlessActor) { // on another thread, because its end may run user code
    Thread.ofVirtual().inheritInheritableThreadLocals(false).start(endlessActor::sendPoisonPill);
  }

  /** Returns whether the head of a request is incomplete, and its deadline has passed. */
  boolean isHeadOverdue(long now) {
    return isReadingHead && hasBegun && now - headDeadline >= 0;
  }
}
