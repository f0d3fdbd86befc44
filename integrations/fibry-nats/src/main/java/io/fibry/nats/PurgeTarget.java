package io.fibry.nats;

import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.LoggerFactory;

/** Where the messages of a stream are purged: at the server, or at a keeper. Thread-safe. */
final class PurgeTarget {
  private final String subject;
  private final boolean byKeeper;
  private final AtomicBoolean refused = new AtomicBoolean(); // that was logged, and none has succeeded since
  private volatile String why = ""; // why the last one failed, or empty

  private PurgeTarget(String subject, boolean byKeeper) {
    this.subject = subject;
    this.byKeeper = byKeeper;
  }

  static PurgeTarget byServer(String stream) {
    return new PurgeTarget("$JS.API.STREAM.PURGE." + stream, false);
  }

  static PurgeTarget byKeeper(String app) {
    return new PurgeTarget(PurgeService.subject(app), true);
  }

  String subject() {
    return subject;
  }

  boolean byKeeper() {
    return byKeeper;
  }

  /** {@return the end of a sentence, or nothing} */
  String whyPurgesFail() {
    return why.isEmpty() ? "" : "; the last deletion failed: " + why;
  }

  /** Logs the first refusal of several. */
  WriteOutcome tell(WriteOutcome outcome) {
    why = switch (outcome) {
      case WriteOutcome.RetryableFailure again -> again.why();
      case WriteOutcome.WriteRejection denied -> denied.why();
      default -> "";
    };
    if (outcome instanceof WriteOutcome.WriteSuccess) refused.set(false);
    else if ((byKeeper || outcome instanceof WriteOutcome.WriteRejection) && refused.compareAndSet(false, true))
      LoggerFactory.getLogger(NatsStore.class).warn("dead turns and messages that are done stay in their stream for "
          + "now{}; {}", byKeeper ? ", until a store with the role KEEPER is open" : "", why);
    return outcome;
  }
}
