package io.fibry.cluster;

import java.util.Objects;

/**
 * A handler on another node threw an exception. Only the text and the class name of an exception
 * are sent between nodes.
 */
public final class RemoteFailureException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The class name of the exception that was thrown. */
  private final String type;

  /**
   * Makes an exception. Called by nodes.
   *
   * @param text the text of the exception that was thrown
   * @param type the class name of the exception that was thrown
   */
  public RemoteFailureException(String text, String type) {
    super(text);
    this.type = Objects.requireNonNull(type, "type");
  }

  /** {@return the class name of the exception that was thrown} */
  public String type() {
    return type;
  }
}
