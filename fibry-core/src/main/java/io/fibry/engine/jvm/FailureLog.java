package io.fibry.engine.jvm;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Which failures are logged: of equal ones, one a second. Equal failures are of one class and come
 * from one line of code. Thread-safe.
 */
public final class FailureLog {
  public static final int OMITTED = -1;
  private static final long PAUSE = 1_000_000_000; // ns
  private static final int KINDS = 64; // beyond this number the oldest kind is forgotten

  private static final class LoggedFailure {
    private final long at;
    private int omitted;

    LoggedFailure(long at) {
      this.at = at;
    }
  }

  // by class and place, in a text: a class would keep its loader
  private final Map<String, LoggedFailure> last = new LinkedHashMap<>() { // guarded by this
    private static final long serialVersionUID = 1;

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, LoggedFailure> eldest) {
      return size() > KINDS;
    }
  };

  /** {@link #OMITTED}, or how many equal ones were left out since the last line. */
  public int admit(Throwable failure, long now) {
    return admit(failure.getClass(), String.valueOf(line(failure)), now);
  }

  /** Failures of the same type at the same place are equal. */
  public int admit(Class<?> type, String place, long now) {
    return admit(type.getName() + " at " + place, now);
  }

  private synchronized int admit(String kind, long now) {
    var line = last.get(kind);
    if (line != null && now - line.at < PAUSE) {
      line.omitted++;
      return OMITTED;
    }
    last.remove(kind); // it comes last again
    last.put(kind, new LoggedFailure(now));
    return line == null ? 0 : line.omitted;
  }

  private static StackTraceElement line(Throwable failure) {
    try {
      var stack = failure.getStackTrace();
      return stack.length == 0 ? null : stack[0];
    } catch (Throwable broken) { // it is the user's
      return null;
    }
  }
}
