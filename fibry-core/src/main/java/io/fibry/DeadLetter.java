package io.fibry;

import java.time.Instant;
import java.util.Optional;

/**
 * A message that no handler finished. A request never becomes a dead letter, because its asker gets
 * an exception. A failed request is only counted. Thread-safe.
 */
public interface DeadLetter {

  /** {@return the name of the actor that the message was sent to} */
  String actor();

  /** {@return the message that was not handled} */
  Object message();

  /** {@return why the message was not handled} */
  Reason reason();

  /**
   * {@return the exception of the handler; empty unless the reason is {@link Reason#FAILED} or
   * {@link Reason#NESTED_REQUEST_FAILED}}
   */
  Optional<Throwable> cause();

  /**
   * {@return when the message became a dead letter, by the clock of the actor's scope, or by the
   * machine's clock if that clock throws}
   */
  Instant time();

  /**
   * Sends the message to its actor again, without waiting for capacity.
   *
   * @return whether the mailbox accepted the message
   */
  boolean resend();

  /** Why a message was not handled. */
  enum Reason {
    /** The handler threw. */
    FAILED,
    /** The handler asked another actor, got no answer, and threw the {@link RequestException}. */
    NESTED_REQUEST_FAILED,
    /** A full mailbox refused the message. */
    REJECTED,
    /** A full mailbox dropped the message. */
    DROPPED,
    /** The limit of the request was over before a handler began with the request. */
    EXPIRED,
    /** The request was cancelled before a handler began with the request. */
    CANCELLED,
    /**
     * The actor ended before it handled the message, or memory was exhausted when the message of a
     * timer was due.
     */
    UNDELIVERED,
    /** The actor ended before the message of a {@code sendMessageLater} without a key was due. */
    TIMER_CANCELLED,
    /**
     * The message was for a client of a server, and the connection of this client had ended. The
     * message is counted and passed to the dead-letter listener, but {@link ActorScope#deadLetters}
     * does not list it.
     */
    DISCONNECTED
  }
}
