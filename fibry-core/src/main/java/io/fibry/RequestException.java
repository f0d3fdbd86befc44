package io.fibry;

import io.fibry.engine.jvm.MessageTexts;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/**
 * Why a request got neither a value nor the handler's own exception. The core has a subclass for
 * each cause: {@link ActorStoppedException}, {@link MailboxFullException},
 * {@link AskTimeoutException}, {@link AskCycleException}, {@link NoReplyException} and
 * {@link CircuitOpenException}. Libraries that build on actors add subclasses of their own, so a
 * {@code switch} over these needs a default.
 */
public abstract class RequestException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The name of the actor. */
  private final String actor;
  private final transient Object request;
  /** Whether the request is handled. */
  private final Outcome outcome;
  /** Null until it is read: a {@code toString} is user code, and must not hold up an end. */
  private String shown;

  /**
   * Made by a library that builds on actors. Has no stack trace, because it is made on a thread
   * that is not the asker's.
   *
   * @param text the description of the failure
   * @param actor the name of the actor
   * @param request the message
   * @param cause the cause, or null if no other exception led to this one
   * @param outcome whether the request is handled
   */
  protected RequestException(String text, String actor, Object request, Throwable cause, Outcome outcome) {
    this(text, actor, request, cause, false, outcome);
  }

  /** Has a stack trace only if it is made on the asker's own thread. */
  RequestException(String text, String actor, Object request, Throwable cause, boolean onAskersThread,
      Outcome outcome) {
    super(text, cause, true, onAskersThread);
    this.actor = actor;
    this.request = request;
    this.outcome = Objects.requireNonNull(outcome, "outcome");
  }

  /**
   * {@return a description of the failure, with the text of the message, which is made when this
   * method is called}
   */
  @Override
  public String getMessage() {
    String text = super.getMessage();
    if (shown == null && text != null) shown = filled(text);
    return shown;
  }

  /** Puts texts of a user's code where they belong. */
  String filled(String text) {
    return text.contains(MessageTexts.REQUEST) ? text.replace(MessageTexts.REQUEST, shown(request)) : text;
  }

  static String shown(Object code) {
    return MessageTexts.describe(code);
  }

  /**
   * Keeps the text.
   *
   * @serialData the text, made now
   * @param out where it is written
   * @throws IOException if that fails
   */
  private void writeObject(ObjectOutputStream out) throws IOException {
    getMessage();
    out.defaultWriteObject();
  }

  /** {@return the name of the actor that was asked} */
  public String actor() {
    return actor;
  }

  /** {@return the message} */
  public Object request() {
    return request;
  }

  /**
   * {@return whether {@link #request} is handled} If a handler lets an exception of a request of
   * its own through to its asker, this is about that other request: see {@link #outcomeOf}.
   */
  public Outcome outcome() {
    return outcome;
  }

  /**
   * Reads the outcome of a request from its failure.
   *
   * @param failure thrown by {@code ask}, or that of the future
   * @param request the object that was sent
   * @return the outcome of that request; UNKNOWN if the failure is about another one, or is not a
   *     {@link RequestException}
   */
  public static Outcome outcomeOf(Throwable failure, Object request) {
    Objects.requireNonNull(request, "request");
    var cause = Objects.requireNonNull(failure, "failure");
    while ((cause instanceof CompletionException || cause instanceof ExecutionException) && cause.getCause() != null)
      cause = cause.getCause();
    return cause instanceof RequestException told && told.request == request ? told.outcome : Outcome.UNKNOWN;
  }
}
