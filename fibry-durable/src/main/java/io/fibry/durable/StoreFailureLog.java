package io.fibry.durable;

import io.fibry.store.Store;
import io.fibry.text.Lines;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.LoggerFactory;

/**
 * Logs the refusals of a store, and the messages that were parked. The first refusal of a kind is
 * logged at once. Later ones are one line a minute with their number, because a full store refuses
 * thousands each second. Thread-safe.
 */
final class StoreFailureLog {
  private static final long LOG_INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** When the log was told of a kind, and of how many it was not told since. */
  private record LastLogged(long loggedAt, long omitted) {}

  private final LongSupplier nanoTime;
  // by the class of the reason, or by the kind of actors; under this object's monitor
  private final Map<Object, LastLogged> lastLogged = new HashMap<>();

  StoreFailureLog(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  void logRefusal(String what, RuntimeException why) {
    var log = LoggerFactory.getLogger(Durable.class);
    nextLine(why.getClass(), what, "; %d others were refused since the last such line")
        .ifPresentOrElse(line -> log.error(line, why), () -> log.debug(what, why));
  }

  void logParked(Store.ActorId actor, StoredMessage<?> kept, String reason) {
    String what = actor + " put message " + kept.message().getClass().getSimpleName() + " aside, as '"
        + Lines.line(Mail.parkedId(kept.uniqueId())) + "': " + Lines.line(reason)
        + ". Its kind lists it by parked(store); call retry(..) or discard(..)";
    warn(actor.kind(), what, ". %d more of this kind were put aside since the last such line");
  }

  /** The events are stored, so only the next reading takes longer. */
  void logUnreadableEvents(Store.ActorId actor, RuntimeException unreadable) {
    String what = actor + " was read from all its events, since its snapshot cannot be read: "
        + Lines.message(unreadable) + ". The next snapshot replaces it";
    warn("snapshot of " + actor.kind(), what, ". %d more of this kind were read so since the last such line");
  }

  void logNoSnapshot(Store.ActorId actor, String field) {
    String what = actor + " goes on without a new snapshot, which would lack " + field
        + ": newer code has written that. If the type had the field before, name it with evolution.ignoreRemoved(..)";
    warn("newer than " + actor.kind(), what, ". %d more of this kind did so since the last such line");
  }

  private void warn(String kind, String what, String others) {
    var log = LoggerFactory.getLogger(Durable.class);
    nextLine(kind, what, others).ifPresentOrElse(log::warn, () -> log.debug(what));
  }

  /** {@return the line to log now, with the number of those left out before; empty if not due} */
  private synchronized Optional<String> nextLine(Object kind, String what, String others) {
    long now = nanoTime.getAsLong();
    var last = lastLogged.get(kind);
    boolean isDue = last == null || now - last.loggedAt >= LOG_INTERVAL_NANOS;
    lastLogged.put(kind, isDue ? new LastLogged(now, 0) : new LastLogged(last.loggedAt, last.omitted + 1));
    if (!isDue) return Optional.empty();
    return Optional.of(last == null || last.omitted == 0 ? what : what + others.formatted(last.omitted));
  }
}
