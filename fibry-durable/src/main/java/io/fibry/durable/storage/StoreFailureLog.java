package io.fibry.durable.storage;

import io.fibry.store.Store;
import io.fibry.text.Lines;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Logs refusals of a store, parked and unreadable messages, and problems with snapshots. The first
 * event of each topic is logged at once. Later events of the topic are counted, and at most one
 * line a minute is logged, because a full store refuses thousands of turns each second.
 * Thread-safe.
 */
public final class StoreFailureLog {
  private static final long LOG_INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final String REMOVED_FIELD_ADVICE =
      ". If the type had the field before, name it with evolution.ignoreRemoved(..)";

  /** The time of the last line of a topic, and how many events were omitted since. */
  private record LastLogged(long loggedAtNanos, long omitted) {}

  private final LongSupplier nanoTime;
  // by topic: an exception's class, or a text with the kind. Guarded by this object's monitor.
  private final Map<Object, LastLogged> lastLogged = new HashMap<>();

  StoreFailureLog(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  public void logRefusal(String text, RuntimeException cause) {
    logError(cause.getClass(), text, "; %d others were refused since the last such line", cause);
  }

  /** Logs that a courier failed, as each courier does while the store cannot be read. */
  public void logUndelivered(Store.ActorId actor, Throwable cause) {
    logError("undelivered " + cause.getClass(), "messages that wait for " + actor + " could not be delivered",
        "; this happened %d more times since the last such line", cause);
  }

  /** Logs a message that this program cannot read, such as a message of a newer program. */
  public void logUnreadableMessage(Store.ActorId actor, RuntimeException unreadable) {
    logError("unreadable message of " + actor.kind(),
        "a message that waits for " + actor + " cannot be read; it continues to wait",
        "; so do %d more of this kind since the last such line", unreadable);
  }

  private void logError(Object topic, String text, String countText, Throwable cause) {
    nextLine(topic, text, countText).ifPresentOrElse(line -> DurableLog.LOG.error(line, cause),
        () -> DurableLog.LOG.debug(text, cause));
  }

  public void logParked(Store.ActorId actor, StoredMessage<?> message, String reason) {
    String text = actor + " parked message " + message.message().getClass().getSimpleName() + " as '"
        + Lines.line(Mail.parkedId(message.uniqueId())) + "': " + Lines.line(reason)
        + ". Its kind lists it by parked(store); call retry(..) or discard(..)";
    warn(actor.kind(), text, ". %d more of this kind were parked since the last such line");
  }

  /**
   * Logs an unreadable snapshot. The events are stored, so the load only took longer.
   *
   * @param unknownField a field that only newer code knows; empty if there is none
   */
  public void logUnreadableSnapshot(Store.ActorId actor, RuntimeException unreadable, String unknownField) {
    String text = actor + " was read from all its events, because its snapshot cannot be read: "
        + Lines.message(unreadable) + (unknownField.isEmpty() ? ". The next snapshot replaces it"
            : ". The snapshot stays, because this program does not know " + unknownField + REMOVED_FIELD_ADVICE);
    warn("snapshot of " + actor.kind(), text,
        ". %d more actors of this kind were read from all their events since the last such line");
  }

  public void logNoSnapshot(Store.ActorId actor, String field) {
    String text = actor + " continues without a new snapshot, which would lack " + field
        + ": newer code has written this field" + REMOVED_FIELD_ADVICE;
    warn("newer than " + actor.kind(), text,
        ". %d more actors of this kind continued without a snapshot since the last such line");
  }

  private void warn(String topic, String text, String countText) {
    nextLine(topic, text, countText).ifPresentOrElse(DurableLog.LOG::warn, () -> DurableLog.LOG.debug(text));
  }

  /** {@return the line to log now, with the number of omitted events; empty if no line is due} */
  private synchronized Optional<String> nextLine(Object topic, String text, String countText) {
    long now = nanoTime.getAsLong();
    var lastLine = lastLogged.get(topic);
    boolean isDue = lastLine == null || now - lastLine.loggedAtNanos >= LOG_INTERVAL_NANOS;
    lastLogged.put(topic,
        isDue ? new LastLogged(now, 0) : new LastLogged(lastLine.loggedAtNanos, lastLine.omitted + 1));
    if (!isDue) return Optional.empty();
    return Optional.of(lastLine == null || lastLine.omitted == 0 ? text : text + countText.formatted(lastLine.omitted));
  }
}
