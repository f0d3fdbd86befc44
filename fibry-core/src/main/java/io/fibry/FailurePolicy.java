package io.fibry;

/**
 * What becomes of an actor whose handler throws. Immutable. The mailbox, and what waits in it, is not concerned: only stopping ends it.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="policy"}
 */
public final class FailurePolicy {
  private static final FailurePolicy GO_ON = new FailurePolicy(false, true);
  private static final FailurePolicy STOP = new FailurePolicy(true, true);

  final boolean stops;
  final boolean logs;

  private FailurePolicy(boolean stops, boolean logs) {
    this.stops = stops;
    this.logs = logs;
  }

  /**
   * Logs it and goes on with the next message. The default of an actor.
   *
   * @return a policy
   */
  public static FailurePolicy goOn() {
    return GO_ON;
  }

  /**
   * Logs it and ends the actor, with the reason {@link ExitReason.Failed}.
   *
   * @return a policy
   */
  public static FailurePolicy stop() {
    return STOP;
  }

  /**
   * The same, but failures are only counted, not logged.
   *
   * @return a changed copy
   */
  public FailurePolicy withoutLog() {
    return new FailurePolicy(stops, false);
  }

  @Override
  public String toString() {
    return (stops ? "stop()" : "goOn()") + (logs ? "" : ".withoutLog()");
  }
}
