package io.fibry;

import io.fibry.engine.jvm.Texts;
import java.io.IOException;
import java.io.ObjectOutputStream;

/** Why a request got neither a value nor the handler's own exception. */
public abstract sealed class RequestException extends RuntimeException
    permits ActorStoppedException, MailboxFullException, AskTimeoutException, AskCycleException, NoReplyException,
    CircuitOpenException, UnansweredException {
  private static final long serialVersionUID = 1;

  /** The name of the actor. */
  private final String actor;
  private final transient Object request;
  /** Null until it is read: a {@code toString} is user code, and must not hold up an end. */
  private String shown;

  /** Only the stack of the asker's own thread says anything. */
  RequestException(String text, String actor, Object request, Throwable cause, boolean onAskersThread) {
    super(text, cause, true, onAskersThread);
    this.actor = actor;
    this.request = request;
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
    return text.contains(Texts.REQUEST) ? text.replace(Texts.REQUEST, shown(request)) : text;
  }

  static String shown(Object code) {
    return Texts.shown(code);
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
}
