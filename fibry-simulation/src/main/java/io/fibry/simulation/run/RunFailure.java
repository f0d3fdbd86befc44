package io.fibry.simulation.run;

import org.jspecify.annotations.Nullable;

/**
 * The reason why a run failed.
 *
 * @param kind the kind of the failure
 * @param text the text for the report
 * @param cause the exception, or null if none was thrown
 */
public record RunFailure(FailureKind kind, String text, @Nullable Throwable cause) {

  public enum FailureKind {
    THROWN, INVARIANT_VIOLATED, DEADLOCK, LIVELOCK, LEFTOVER, CARRIER_HELD, EXTERNAL_WAKE_UP, NOT_REPEATABLE
  }

  public static RunFailure ofException(Throwable cause) {
    return new RunFailure(FailureKind.THROWN, cause.toString(), cause);
  }

  public static RunFailure of(FailureKind kind, String text) {
    return new RunFailure(kind, text, null);
  }

  /**
   * Returns whether two failures probably have the same cause: an equal invariant, or an exception
   * of the same class from the same line. Other failures need only have the same kind, because
   * their texts contain numbers.
   */
  public boolean isSameFault(@Nullable RunFailure other) {
    if (other == null || kind != other.kind) return false;
    if (kind == FailureKind.INVARIANT_VIOLATED) return text.equals(other.text);
    return locationOf(cause).equals(locationOf(other.cause));
  }

  private static String locationOf(@Nullable Throwable cause) {
    if (cause == null) return "";
    var stack = cause.getStackTrace();
    return cause.getClass().getName() + (stack.length == 0 ? "" : stack[0]);
  }
}
