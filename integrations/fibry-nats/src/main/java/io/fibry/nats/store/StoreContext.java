package io.fibry.nats.store;

import io.fibry.nats.NatsStore;
import io.fibry.nats.connection.ConnectionErrors;
import io.fibry.nats.connection.StoreSubjects;
import io.fibry.nats.stream.JetStreamLog;
import io.fibry.nats.stream.WriteOutcome;
import io.fibry.store.StoreUnconfirmedException;
import io.fibry.store.StoreException;
import io.fibry.store.StoreFullException;
import io.fibry.store.StoreWriteException;
import io.fibry.text.Durations;
import io.nats.client.NUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;

/** The objects, ids, limits and exceptions that the classes of a store share. Thread-safe. */
public final class StoreContext {
  private static final int MESSAGE_OVERHEAD = 64 << 10; // bytes reserved in a message for all but the bodies of turns
  private static final int HEADER_BYTES = 8 << 10; // bytes reserved in a message for its headers

  private final JetStreamLog log;
  private final StoreSubjects subjects;
  private final NatsStore.Options options;
  private final String storeId = NUID.nextGlobal();
  private final AtomicLong lastUniqueNumber = new AtomicLong();
  private final AtomicLong lastLife = new AtomicLong();
  private volatile boolean closed;

  public StoreContext(JetStreamLog log, StoreSubjects subjects, NatsStore.Options options) {
    this.log = log;
    this.subjects = subjects;
    this.options = options;
  }

  JetStreamLog log() {
    return log;
  }

  StoreSubjects subjects() {
    return subjects;
  }

  NatsStore.Options options() {
    return options;
  }

  /** Returns how many bytes the bodies of all turns in one message may have together. */
  public int maxBytes() {
    return log.maxBytes() - MESSAGE_OVERHEAD;
  }

  /** Returns how many bytes an encoded {@link JournalEntry} may have. */
  int maxEntryBytes() {
    return log.maxBytes() - HEADER_BYTES;
  }

  public boolean isClosed() {
    return closed;
  }

  /** Notes that the store is closed. */
  public void close() {
    closed = true;
  }

  /** Returns a number for a new life, above {@code previous} and all numbers returned before. */
  long nextLife(long previous) {
    return lastLife.updateAndGet(last -> Math.max(last, previous) + 1);
  }

  /** Returns a name that no other entry or message has. */
  String uniqueName() {
    return storeId + "." + lastUniqueNumber.incrementAndGet();
  }

  // ---- failures

  public StoreException refusal(Throwable failure) {
    var cause = failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    return cause instanceof StoreException known ? known
        : new StoreWriteException(this + " failed: " + ConnectionErrors.text(cause), cause);
  }

  /** Returns the exception for a write that may have been stored. */
  StoreUnconfirmedException unknownOutcome(Throwable failure, String description) {
    return new StoreUnconfirmedException(this + " failed, and it is unknown whether it has " + description + ": "
        + ConnectionErrors.text(failure), failure);
  }

  StoreException refusal(WriteOutcome outcome, String description) {
    return switch (outcome) {
      case WriteOutcome.RetryableFailure retryable when retryable.mayBeStored() -> new StoreUnconfirmedException(
          "it is unknown whether " + this + " has " + description + ": " + retryable.reason());
      case WriteOutcome.RetryableFailure retryable -> new StoreWriteException(
          this + " does not take " + description + ", after " + Durations.text(options.requestLimit()) + ": "
              + retryable.reason(),
          null);
      case WriteOutcome.WriteRejection rejection when rejection.isFull() -> new StoreFullException(
          this + " has no space for " + description + ": " + rejection.reason(), null);
      case WriteOutcome.WriteRejection rejection -> new StoreWriteException(
          this + " refuses " + description + ": " + rejection.reason(), null);
      default -> throw new AssertionError(outcome);
    };
  }

  @Override
  public String toString() {
    return "the store in stream " + subjects.streamName();
  }
}
