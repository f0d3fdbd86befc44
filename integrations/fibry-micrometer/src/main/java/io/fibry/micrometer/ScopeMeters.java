package io.fibry.micrometer;

import io.fibry.ActorScope;
import io.fibry.ActorScope.Report;
import io.fibry.DeadLetter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Instant;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;

/**
 * Meters of the messages and actors of a scope and the scopes inside it. The messages have the
 * counter {@code fibry.messages} for each outcome, and the gauges {@code fibry.messages.waiting}
 * and {@code fibry.messages.handling}. The actors have the counter {@code fibry.scope.restarted}
 * and the gauge {@code fibry.scope.suspended}. Thread-safe.
 * {@snippet class="io.fibry.micrometer.Shop" region="shop"}
 *
 * <p>The counter {@code fibry.dead.letters} counts the messages that were lost without an asker who
 * knows that, for each {@code reason}. The gauge {@code fibry.dead.letters.last.timestamp} is the
 * time of the last one in seconds since 1970, or 0. Messages for disconnected clients do not change
 * this time.
 *
 * <p>Scopes count their messages even without meters. When a registry reads the meters, the scope
 * makes a report, at most once a second. After the scope has closed, the meters keep their last
 * values until {@link #close}.
 */
public final class ScopeMeters implements MeterBinder, AutoCloseable {
  private final Tags tags;
  private final ActorScope scope;
  private final BoundMeters registered = new BoundMeters();

  /**
   * Makes meters with the tag {@code scope}.
   *
   * @param scope the scope, whose name is the value of the tag
   */
  public ScopeMeters(ActorScope scope) {
    this(scope, Tags.empty());
  }

  /**
   * Makes meters with the tag {@code scope} and the given tags. Two scopes with the same name need
   * a tag that differs, because otherwise the registry has only the meters of the first.
   *
   * @param scope the scope, whose name is the value of the tag
   * @param tags more tags of all meters
   */
  public ScopeMeters(ActorScope scope, Iterable<Tag> tags) {
    this.tags = Tags.of("scope", scope.name()).and(tags);
    this.scope = scope;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    var report = new CachedSample<>(scope::report, registry.config().clock());
    bindCount(registry, report, "fibry.messages", Tags.of("outcome", "handled"), "Messages by their outcome",
        Report::handled);
    for (var reason : DeadLetter.Reason.values()) {
      var name = reason.name().toLowerCase(Locale.ROOT);
      bindCount(registry, report, "fibry.messages", Tags.of("outcome", name), "Messages by their outcome",
          totals -> totals.unhandled().getOrDefault(reason, 0L));
      bindCount(registry, report, "fibry.dead.letters", Tags.of("reason", name), "Messages that were lost, by reason",
          totals -> totals.deadLetterCounts().getOrDefault(reason, 0L));
    }
    bindCount(registry, report, "fibry.scope.restarted", Tags.empty(), "Restarts of actors", Report::restarted);
    bindGauge(registry, report, "fibry.scope.suspended", "Actors that are suspended after a failure",
        Report::suspended);
    bindGauge(registry, report, "fibry.messages.waiting", "Messages in mailboxes", Report::queued);
    bindGauge(registry, report, "fibry.messages.handling", "Messages in handlers", Report::handling);
    registered.add(registry,
        TimeGauge.builder("fibry.dead.letters.last.timestamp", () -> lastDeadLetterMillis(report.sample()),
            TimeUnit.MILLISECONDS).tags(tags).description("When the last message was lost; 0: none")
            .register(registry));
  }

  private static long lastDeadLetterMillis(Report report) {
    return report.lastDeadLetter().map(Instant::toEpochMilli).orElse(0L);
  }

  private void bindGauge(MeterRegistry registry, CachedSample<Report> report, String name, String description,
      ToLongFunction<Report> count) {
    registered.gauge(registry, name, tags, description, () -> count.applyAsLong(report.sample()));
  }

  private void bindCount(MeterRegistry registry, CachedSample<Report> report, String name, Tags ownTags,
      String description, ToLongFunction<Report> count) {
    registered.count(registry, name, tags.and(ownTags), description, () -> count.applyAsLong(report.sample()));
  }

  /** Removes the meters from their registries. */
  @Override
  public void close() {
    registered.remove();
  }
}
