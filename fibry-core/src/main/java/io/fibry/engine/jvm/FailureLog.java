package io.fibry.engine.jvm;

import io.fibry.text.StackFrames;
import java.lang.ref.WeakReference;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Decides which failures are logged: of equal failures, one per second. Failures are equal if their
 * stacks are equal: they and their causes have the same classes and the same frames. Comparing only
 * the newest frame would hide a time-out of another handler, because the library throws all of
 * them. The frames of the engine and the JDK below the handler do not count. Thread-safe.
 */
public final class FailureLog {
  /** The failure must not be logged. */
  public static final int OMITTED = -1;
  private static final long MIN_INTERVAL = 1_000_000_000; // ns
  private static final int MAX_KINDS = 64; // beyond this number, the kind that was logged longest ago is forgotten
  private static final int MAX_CAUSES = 16; // compared in a chain, which may be a cycle
  private static final int MAX_STACKS = 16; // logged exceptions that are remembered

  // a ring of the exceptions whose stacks were logged last; guarded by the monitor of this class.
  // null until the first, because a static initializer may fail at the end of a stack
  private static LoggedStack[] stacks;
  private static int nextStack; // index of the oldest element

  /** An exception whose stack was logged. The reference is weak, because the log outlives it. */
  private static final class LoggedStack extends WeakReference<Throwable> {
    private final String entry;
    private final boolean isOfActor;
    private final long loggedAt;

    LoggedStack(Throwable failure, String entry, boolean isOfActor, long loggedAt) {
      super(failure);
      this.entry = entry;
      this.isOfActor = isOfActor;
      this.loggedAt = loggedAt;
    }
  }

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
    return admit(failure, "", now);
  }

  /**
   * Decides about a failure of an origin, such as a route. Those of other origins are not equal.
   */
  public int admit(Throwable failure, String origin, long now) {
    return admit(failure.getClass(), origin + " with stack " + hashStacks(failure), now);
  }

  /** Decides about a failure by its type and the given place, not by its stack trace. */
  public int admit(Class<?> type, String place, long now) {
    return admit(type.getName() + " at " + place, now);
  }

  /**
   * Tells whether another entry has the stack of the same exception. An actor and the connection
   * that has asked it both log the failure of a request. The request fails before its actor logs,
   * so each of the two entries may be the first.
   *
   * @param entry the name of the caller's entry, such as {@code actor 'till'}
   * @param isOfActor whether an actor or a connection logs
   * @return the name of the oldest entry of the other kind that has logged the stack within the
   * last second. Returns null if there is none; the caller then logs the stack
   */
  public static synchronized String entryWithStack(Throwable failure, String entry, boolean isOfActor, long now) {
    if (stacks == null) stacks = new LoggedStack[MAX_STACKS];
    for (int age = MAX_STACKS; age > 0; age--) {
      var stack = stacks[(nextStack + MAX_STACKS - age) % MAX_STACKS];
      if (stack != null && stack.refersTo(failure) && stack.isOfActor != isOfActor
          && now - stack.loggedAt < MIN_INTERVAL)
        return stack.entry;
    }
    stacks[nextStack] = new LoggedStack(failure, entry, isOfActor, now);
    nextStack = (nextStack + 1) % MAX_STACKS;
    return null;
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

  /** Returns a hash of the classes and frames of a failure and its causes. */
  private static long hashStacks(Throwable failure) {
    long hash = 0;
    try {
      var cause = failure;
      for (int i = 0; cause != null && i < MAX_CAUSES; i++) {
        hash = mix(hash, cause.getClass().getName().hashCode());
        var stack = cause.getStackTrace();
        for (int frames = countComparedFrames(stack), k = 0; k < frames; k++) hash = mix(hash, stack[k].hashCode());
        cause = cause.getCause();
      }
    } catch (Throwable userError) { // both getters may be overridden: they may throw, or return nulls
      return hash; // of the part that could be read
    }
    return hash;
  }

  /**
   * Returns how many frames are the handler's: those before the newest delivery of a message. For
   * other code, the last frames of the engine and the JDK do not count.
   */
  private static int countComparedFrames(StackTraceElement[] stack) {
    for (int i = 0; i < stack.length; i++) if (StackTraces.isDelivery(stack[i])) return i;
    int count = stack.length;
    while (count > 0 && isLibrary(stack[count - 1])) count--;
    return count == 0 ? stack.length : count;
  }

  private static boolean isLibrary(StackTraceElement frame) {
    return frame.getClassName().startsWith("io.fibry.engine.") || StackFrames.isOfJdk(frame);
  }

  private static long mix(long hash, int part) {
    return (hash ^ part) * 0x9E3779B97F4A7C15L + (hash >>> 29);
  }
}
