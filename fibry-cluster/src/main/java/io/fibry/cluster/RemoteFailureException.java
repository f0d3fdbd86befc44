package io.fibry.cluster;

import java.util.Objects;

/** What a handler on another node threw: exceptions themselves do not travel. */
public final class RemoteFailureException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The class of the exception. */
  private final String type;

  RemoteFailureException(String text, String type) {
    super(text);
    this.type = Objects.requireNonNull(type, "type");
  }

  /** {@return the name of the class of what was thrown} */
  public String type() {
    return type;
  }
}
