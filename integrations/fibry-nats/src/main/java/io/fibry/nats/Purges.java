package io.fibry.nats;

import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.LoggerFactory;

/** Where the messages of a stream are purged: at the server, or at a keeper. Thread-safe. */
final class Purges {
  private final String subject;
  private final boolean byKeeper;
  private final AtomicBoolean refused = new AtomicBoolean(); // that was logged, and none has succeeded since
  private volatile String why = ""; // why the last one failed, or empty

  private Purges(String subject, boolean byKeeper) {
    this.subject = subject;
    this.byKeeper = byKeeper;
  }

  static Purges byServer(String stream) {
    return new Purges("$JS.API.STREAM.PURGE." + stream, false);
  }

  static Purges byKeeper(String app) {
    return new Purges(Purging.subject(app), true);
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
  Stored tell(Stored outcome) {
    why = switch (outcome) {
      case Stored.Again again -> again.why();
      case Stored.Refused denied -> denied.why();
      default -> "";
    };
    if (outcome instanceof Stored.Here) refused.set(false);
    else if ((byKeeper || outcome instanceof Stored.Refused) && refused.compareAndSet(false, true))
      LoggerFactory.getLogger(NatsStore.class).warn("dead turns and messages that are done stay in their stream for "
          + "now{}; {}", byKeeper ? ", until a store with the role KEEPER is open" : "", why);
    return outcome;
  }
}
