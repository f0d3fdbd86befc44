package io.fibry.codec;

import io.fibry.text.Lines;

/** Bytes that are not a value of the type, or a value that has no form in bytes. */
public final class CodecException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /**
   * For codecs.
   *
   * @param message the fault, and its place
   */
  public CodecException(String message) {
    super(message);
  }

  /**
   * For codecs.
   *
   * @param message the fault, and its place
   * @param cause what failed
   */
  public CodecException(String message, Throwable cause) {
    super(message, cause);
  }

  /**
   * For formats: the codec puts the place in front.
   *
   * @param what is wrong
   * @return to be thrown
   */
  public static CodecException here(String what) {
    return new CodecException(": " + Lines.escaped(what));
  }

  /** Returns the same failure, described from the place around it. */
  CodecException in(String place) {
    String text = String.valueOf(getMessage()); // a codec of a user may have none
    boolean isName = !text.isEmpty() && Character.isJavaIdentifierStart(text.charAt(0));
    var outer = new CodecException(place + (isName ? "." : "") + text, getCause());
    outer.setStackTrace(getStackTrace());
    return outer;
  }
}
