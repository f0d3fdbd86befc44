package io.fibry.cluster;

import io.fibry.UnansweredException;

/**
 * A request did not get to an actor of another node, or no node can answer it any more: its node
 * was killed or has lapsed, or a connection broke. The latter is known within a lease.
 */
public final class UnreachableException extends UnansweredException {
  private static final long serialVersionUID = 1;

  /** Nobody knows. */
  private final boolean mayHaveRun;

  UnreachableException(String text, String actor, Object request, Throwable cause, boolean mayHaveRun) {
    super(text, actor, request, cause);
    this.mayHaveRun = mayHaveRun;
  }

  /** {@return whether it may have been handled all the same; otherwise it certainly was not} */
  public boolean mayHaveRun() {
    return mayHaveRun;
  }
}
