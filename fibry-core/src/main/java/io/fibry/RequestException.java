package io.fibry;

import io.fibry.engine.jvm.MessageTexts;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/**
 * Thrown to an asker that gets neither an answer nor an exception of the handler; an exception of
 * the handler is thrown to the asker as it is. The core has a subclass for each cause: {@link
 * ActorStoppedException}, {@link MailboxFullException}, {@link AskTimeoutException}, {@link
 * AskCycleException}, {@link NoReplyException} and {@link CircuitOpenException}. Libraries that
 * build on actors add subclasses of their own, so a {@code switch} over the subclasses needs a
 * default.
 */
public abstract class RequestException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The name of the actor. */
  private final String actor;
  private final transient Object request;
  /** Whether the request is handled. */
  private final RequestOutcome outcome;
  /**
   * The complete text. Null until it is first read, because the {@code toString} of the request is
   * user code, which must not delay the end of an actor.
   */
  private String completeText;

  /**
   * Creates an exception; for libraries that build on actors. The exception has no stack trace,
   * because it is not created on the asker's thread.
   *
   * @param text describes the failure
   * @param actor the name of the actor
   * @param request the message
   * @param cause the cause, or null if no other exception led to this one
   * @param outcome whether the request is handled
   */
  protected RequestException(String text, String actor, Object request, Throwable cause, RequestOutcome outcome) {
    this(text, actor, request, cause, false, outcome);
  }

  /** Creates an exception, with a stack trace only if it is created on the asker's own thread. */
  RequestException(String text, String actor, Object request, Throwable cause, boolean onAskersThread,
      RequestOutcome outcome) {
    super(text, cause, true, onAskersThread);
    this.actor = actor;
    this.request = request;
    this.outcome = Objects.requireNonNull(outcome, "outcome");
  }

  /**
   * {@return a description of the failure} It includes the text of the request, which is made by
   * the first call of this method.
   */
  @Override
  public String getMessage() {
    String text = super.getMessage();
    if (completeText == null && text != null) completeText = fillIn(text);
    return completeText;
  }

  /** Replaces the placeholder of the request by the text of the request. */
  String fillIn(String text) {
    return text.contains(MessageTexts.REQUEST) ? text.replace(MessageTexts.REQUEST, describe(request)) : text;
  }

  static String describe(Object object) {
    return MessageTexts.describe(object);
  }

  /**
   * Makes the complete text before the exception is serialized, because the request itself is not
   * serialized.
   *
   * @serialData the complete text
   * @param out the stream to write to
   * @throws IOException if the stream cannot be written
   */
  private void writeObject(ObjectOutputStream out) throws IOException {
    getMessage();
    out.defaultWriteObject();
  }

  /** {@return the name of the actor that was asked} */
  public String actor() {
    return actor;
  }

  /** {@return the request; null in a deserialized exception} */
  public Object request() {
    return request;
  }

  /**
   * {@return whether {@link #request} is handled} A handler may ask another actor, and pass the
   * exception of that request on to its own asker. The outcome is then about the handler's request,
   * and not about its asker's: see {@link #outcomeOf}.
   */
  public RequestOutcome outcome() {
    return outcome;
  }

  /**
   * Returns the outcome of a request that failed.
   *
   * @param failure the exception that {@code ask} threw, or with which the future failed
   * @param request the object that was sent
   * @return the outcome of that request; UNKNOWN if the failure is about another request, or is not
   *     a {@link RequestException}
   */
  public static RequestOutcome outcomeOf(Throwable failure, Object request) {
    Objects.requireNonNull(request, "request");
    var cause = Objects.requireNonNull(failure, "failure");
    while ((cause instanceof CompletionException || cause instanceof ExecutionException) && cause.getCause() != null)
      cause = cause.getCause();
    return cause instanceof RequestException exception && exception.request == request
        ? exception.outcome : RequestOutcome.UNKNOWN;
  }
}
