package io.fibry;

import java.util.Optional;

/**
 * A message that no handler finished. Requests are counted but are no dead letters: their asker is
 * told. Thread-safe.
 */
public interface DeadLetter {

  /**
   * Whom it was sent to.
   *
   * @return the actor's name
   */
  String actor();

  /**
   * What was sent.
   *
   * @return the message
   */
  Object message();

  /**
   * Why it was not handled.
   *
   * @return the reason
   */
  Reason reason();

  /**
   * What the handler threw, if one did.
   *
   * @return empty unless the reason is {@link Reason#FAILED}
   */
  Optional<Throwable> cause();

  /**
   * Sends it again to the same actor, without waiting for room.
   *
   * @return true if taken
   */
  boolean resend();

  /** Why a message was not handled. */
  enum Reason {
    /** The handler threw. */
    FAILED,
    /** A full mailbox refused it. */
    REJECTED,
    /** A full mailbox dropped it. */
    DROPPED,
    /** A request whose time was over before it was handled. */
    EXPIRED,
    /** A request that was cancelled before it was handled. */
    CANCELLED,
    /** The actor had ended, or ended first. */
    UNDELIVERED
  }
}
