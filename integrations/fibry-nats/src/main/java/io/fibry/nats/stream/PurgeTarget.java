package io.fibry.nats.stream;

import io.fibry.nats.NatsStore;
import io.fibry.nats.connection.AppSubjects;
import io.fibry.text.SafeLogger;
import java.util.concurrent.atomic.AtomicBoolean;

/** The receiver of the purge calls for a stream: the server, or a keeper. Thread-safe. */
public final class PurgeTarget {
  private final String subject;
  private final boolean isKeeper;
  // whether a failure was logged, and no purge has succeeded after it
  private final AtomicBoolean failureLogged = new AtomicBoolean();
  private volatile String lastFailure = ""; // of the last purge; empty if it succeeded

  private PurgeTarget(String subject, boolean isKeeper) {
    this.subject = subject;
    this.isKeeper = isKeeper;
  }

  public static PurgeTarget atServer(String stream) {
    return new PurgeTarget("$JS.API.STREAM.PURGE." + stream, false);
  }

  public static PurgeTarget throughKeeper(String app) {
    return new PurgeTarget(new AppSubjects(app).purges(), true);
  }

  String subject() {
    return subject;
  }

  boolean isKeeper() {
    return isKeeper;
  }

  /** {@return why the last purge failed, as the end of a sentence; empty if it succeeded} */
  String purgeFailureText() {
    return lastFailure.isEmpty() ? "" : "; the last deletion failed: " + lastFailure;
  }

  /**
   * Remembers the outcome of a purge. Logs the first of several failures in a row; if the server is
   * the target, only rejections are logged.
   */
  WriteOutcome noteOutcome(WriteOutcome outcome) {
    lastFailure = switch (outcome) {
      case WriteOutcome.RetryableFailure failure -> failure.reason();
      case WriteOutcome.WriteRejection rejection -> rejection.reason();
      default -> "";
    };
    if (outcome instanceof WriteOutcome.WriteSuccess) failureLogged.set(false);
    else if ((isKeeper || outcome instanceof WriteOutcome.WriteRejection) && failureLogged.compareAndSet(false, true))
      SafeLogger.of(NatsStore.class).warn("turns and handled messages that are obsolete stay in their "
          + "stream for now{}; {}", isKeeper ? ", until a store with the role KEEPER is open" : "", lastFailure);
    return outcome;
  }
}
