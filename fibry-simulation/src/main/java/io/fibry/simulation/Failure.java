package io.fibry.simulation;

import org.jspecify.annotations.Nullable;

/**
 * Why a run went wrong.
 *
 * @param kind of all that can go wrong
 * @param text for a person
 * @param cause the exception, or null if none was thrown
 */
record Failure(Kind kind, String text, @Nullable Throwable cause) {

  enum Kind {
    THROWN, ALWAYS, DEADLOCK, LIVELOCK, LEFTOVER, HELD, ESCAPED, NOT_REPEATABLE
  }

  static Failure thrown(Throwable cause) {
    return new Failure(Kind.THROWN, cause.toString(), cause);
  }

  static Failure of(Kind kind, String text) {
    return new Failure(kind, text, null);
  }

  /** Whether this is the same fault, as far as one can tell: texts may have other numbers. */
  boolean isLike(@Nullable Failure other) {
    if (other == null || kind != other.kind) return false;
    if (kind == Kind.ALWAYS) return text.equals(other.text);
    return place(cause).equals(place(other.cause));
  }

  private static String place(@Nullable Throwable cause) {
    if (cause == null) return "";
    var stack = cause.getStackTrace();
    return cause.getClass().getName() + (stack.length == 0 ? "" : stack[0]);
  }
}
