package io.fibry;

/** A request that was not answered: not by a value, nor by the handler's own exception. */
public abstract sealed class RequestException extends RuntimeException
    permits ActorStoppedException, MailboxFullException, AskTimeoutException, AskCycleException, NoReplyException {
  private static final long serialVersionUID = 1;

  /** Who was asked. */
  private final String actor;
  private final transient Object request;

  /** The stack of the thread that found out says nothing, unless that thread is the asker's. */
  RequestException(String text, String actor, Object request, Throwable cause, boolean onAskersThread) {
    super(text, cause, true, onAskersThread);
    this.actor = actor;
    this.request = request;
  }

  /**
   * Who was asked.
   *
   * @return the actor's name
   */
  public String actor() {
    return actor;
  }

  /**
   * What was asked.
   *
   * @return the message
   */
  public Object request() {
    return request;
  }
}
