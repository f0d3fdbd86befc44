package io.fibry.engine.jvm;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Decides which failures are logged: of equal failures, one per second. Failures are equal if they
 * have the same class and come from the same line of code. Thread-safe.
 */
public final class FailureLog {
  /** The failure must not be logged. */
  public static final int OMITTED = -1;
  private static final long MIN_INTERVAL = 1_000_000_000; // ns
  private static final int MAX_KINDS = 64; // beyond this number, the kind that was logged longest ago is forgotten

  private static final class LoggedFailure {
    private final long loggedAt;
    private int omitted;

    LoggedFailure(long loggedAt) {
      this.loggedAt = loggedAt;
    }
  }

  // The key is the class name and the place. A Class object would keep its loader in memory
  private final Map<String, LoggedFailure> lastLogged = new LinkedHashMap<>() { // guarded by this
    private static final long serialVersionUID = 1;

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, LoggedFailure> eldest) {
      return size() > MAX_KINDS;
    }
  };

  /**
   * Returns {@link #OMITTED} if the failure must not be logged; otherwise the number of failures
   * that were omitted since an equal failure was last logged. {@code now} is in nanoseconds.
   */
  public int admit(Throwable failure, long now) {
    return admit(failure.getClass(), String.valueOf(topFrame(failure)), now);
  }

  /** Decides about a failure by its type and the given place, not by its stack trace. */
  public int admit(Class<?> type, String place, long now) {
    return admit(type.getName() + " at " + place, now);
  }

  private synchronized int admit(String kind, long now) {
    var previous = lastLogged.get(kind);
    if (previous != null && now - previous.loggedAt < MIN_INTERVAL) {
      previous.omitted++;
      return OMITTED;
    }
    lastLogged.remove(kind); // the map keeps the order of insertion, and the new entry must be the youngest
    lastLogged.put(kind, new LoggedFailure(now));
    return previous == null ? 0 : previous.omitted;
  }

  private static StackTraceElement topFrame(Throwable failure) {
    try {
      var stack = failure.getStackTrace();
      return stack.length == 0 ? null : stack[0];
    } catch (Throwable userError) { // getStackTrace may be overridden
      return null;
    }
  }
}
