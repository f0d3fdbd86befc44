package io.fibry.nats;

import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.LoggerFactory;

/** Where the messages of a stream are purged: at the server, or at a keeper. Thread-safe. */
final class PurgeTarget {
  private final String subject;
  private final boolean isByKeeper;
  private final AtomicBoolean refused = new AtomicBoolean(); // that was logged, and none has succeeded since
  private volatile String lastFailure = ""; // why the last one failed, or empty

  private PurgeTarget(String subject, boolean isByKeeper) {
    this.subject = subject;
    this.isByKeeper = isByKeeper;
  }

  static PurgeTarget atServer(String stream) {
    return new PurgeTarget("$JS.API.STREAM.PURGE." + stream, false);
  }

  static PurgeTarget throughKeeper(String app) {
    return new PurgeTarget(PurgeService.subject(app), true);
  }

  String subject() {
    return subject;
  }

  boolean isByKeeper() {
    return isByKeeper;
  }

  /** {@return the end of a sentence, or nothing} */
  String purgeFailureText() {
    return lastFailure.isEmpty() ? "" : "; the last deletion failed: " + lastFailure;
  }

  /** Logs the first refusal of several. */
  WriteOutcome logRefusal(WriteOutcome outcome) {
    lastFailure = switch (outcome) {
      case WriteOutcome.RetryableFailure again -> again.reason();
      case WriteOutcome.WriteRejection denied -> denied.reason();
      default -> "";
    };
    if (outcome instanceof WriteOutcome.WriteSuccess) refused.set(false);
    else if ((isByKeeper || outcome instanceof WriteOutcome.WriteRejection) && refused.compareAndSet(false, true))
      LoggerFactory.getLogger(NatsStore.class).warn("dead turns and messages that are done stay in their stream for "
          + "now{}; {}", isByKeeper ? ", until a store with the role KEEPER is open" : "", lastFailure);
    return outcome;
  }
}
