package io.fibry.codec;

import io.fibry.text.Lines;

/** Thrown when bytes are not a value of the type, or when a value cannot be encoded. */
public final class CodecException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /**
   * Makes an exception; called by codecs.
   *
   * @param message the fault, and where in the value it is
   */
  public CodecException(String message) {
    super(message);
  }

  /**
   * Makes an exception with a cause; called by codecs.
   *
   * @param message the fault, and where in the value it is
   * @param cause the failure that led to the fault
   */
  public CodecException(String message, Throwable cause) {
    super(message, cause);
  }

  /**
   * Makes an exception that names only the fault, and not its position; called by formats. The text
   * begins with a colon, because the codec puts the path of the faulty value in front of the text.
   *
   * @param fault the fault, such as "it is null"
   * @return the exception, which the caller throws
   */
  public static CodecException ofFault(String fault) {
    return new CodecException(": " + Lines.escaped(fault));
  }

  /**
   * Returns the same failure with the name of the enclosing value, field or element in front of the
   * text.
   */
  CodecException enclosedBy(String enclosing) {
    String text = String.valueOf(getMessage()); // the message of a user's codec may be null
    boolean startsWithName = !text.isEmpty() && Character.isJavaIdentifierStart(text.charAt(0));
    var outer = new CodecException(enclosing + (startsWithName ? "." : "") + text, getCause());
    outer.setStackTrace(getStackTrace());
    return outer;
  }
}
