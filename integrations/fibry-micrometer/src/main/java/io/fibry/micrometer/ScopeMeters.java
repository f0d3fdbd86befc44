package io.fibry.micrometer;

import io.fibry.ActorScope;
import io.fibry.ActorScope.Report;
import io.fibry.DeadLetter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Locale;
import java.util.function.ToLongFunction;

/**
 * Meters of the messages of a scope and the scopes inside it: the counter {@code fibry.messages}
 * for each outcome, and the gauges {@code fibry.messages.waiting} and
 * {@code fibry.messages.handling}. Thread-safe.
 * {@snippet class="io.fibry.micrometer.Shop" region="shop"}
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
    bindCount(registry, report, "handled", Report::handled);
    for (var reason : DeadLetter.Reason.values()) bindCount(registry, report, reason.name().toLowerCase(Locale.ROOT),
        totals -> totals.unhandled().getOrDefault(reason, 0L));
    bindGauge(registry, report, "waiting", "Messages in mailboxes", Report::queued);
    bindGauge(registry, report, "handling", "Messages in handlers", Report::handling);
  }

  private void bindGauge(MeterRegistry registry, CachedSample<Report> report, String suffix, String description,
      ToLongFunction<Report> count) {
    registered.add(registry, Gauge.builder("fibry.messages." + suffix, () -> count.applyAsLong(report.sample()))
        .tags(tags).description(description).register(registry));
  }

  /**
   * Registers a counter. The registry has only a weak reference to {@code report}. The function
   * refers to {@code report}, too, so that the report is not collected.
   */
  private void bindCount(MeterRegistry registry, CachedSample<Report> report, String outcome,
      ToLongFunction<Report> count) {
    registered.add(registry, FunctionCounter
        .builder("fibry.messages", report, unused -> count.applyAsLong(report.sample()))
        .tags(tags).tag("outcome", outcome).description("Messages by their outcome")
        .register(registry));
  }

  /** Removes the meters from their registries. */
  @Override
  public void close() {
    registered.remove();
  }
}
