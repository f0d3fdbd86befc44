package io.fibry;

import java.util.Optional;

/**
 * A message that no handler finished. Requests are counted, but are no dead letters: their asker is
 * told. Thread-safe.
 */
public interface DeadLetter {

  /** {@return the name of the actor it was sent to} */
  String actor();

  /** {@return the message that was not handled} */
  Object message();

  /** {@return why it was not handled} */
  Reason reason();

  /**
   * {@return the exception of the handler; empty unless the reason is {@link Reason#FAILED} or
   * {@link Reason#NESTED_REQUEST_FAILED}}
   */
  Optional<Throwable> cause();

  /** {@return whether the actor took it, sent again without waiting for room} */
  boolean resend();

  /** Why a message was not handled. */
  enum Reason {
    /** The handler threw. */
    FAILED,
    /** The handler asked an actor, and threw on that it got no answer. */
    NESTED_REQUEST_FAILED,
    /** A full mailbox refused it. */
    REJECTED,
    /** A full mailbox dropped it. */
    DROPPED,
    /** A request whose limit was over first. */
    EXPIRED,
    /** A request cancelled before it was handled. */
    CANCELLED,
    /** The actor had ended, or ended first. */
    UNDELIVERED,
    /** {@code sendMessageLater}, without a key, was to send it after the actor's end. */
    TIMER_CANCELLED,
    /**
     * It was for a client, such as that of a {@code lineActor}, whose connection had ended. It is
     * counted, and told to the listener, but not kept among the last dead letters.
     */
    DISCONNECTED
  }
}
