package io.fibry;

/** Why a request got neither a value nor the handler's own exception. */
public abstract sealed class RequestException extends RuntimeException
    permits ActorStoppedException, MailboxFullException, AskTimeoutException, AskCycleException, NoReplyException {
  private static final long serialVersionUID = 1;

  /** The name of the actor. */
  private final String actor;
  private final transient Object request;

  /** Only the stack of the asker's own thread says anything. */
  RequestException(String text, String actor, Object request, Throwable cause, boolean onAskersThread) {
    super(text, cause, true, onAskersThread);
    this.actor = actor;
    this.request = request;
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
