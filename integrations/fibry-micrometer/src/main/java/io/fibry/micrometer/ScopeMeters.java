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
 * The accounts of a scope and those inside it as meters: the counter {@code fibry.messages} for
 * each outcome, and the gauges {@code fibry.messages.waiting} and
 * {@code fibry.messages.handling}. Thread-safe.
 * {@snippet class="io.fibry.micrometer.Shop" region="shop"}
 *
 * <p>Scopes count anyway; a registry that reads costs a report, at most once a second. The meters
 * stay after the scope has closed, with its last accounts, until {@link #close}.
 */
public final class ScopeMeters implements MeterBinder, AutoCloseable {
  static final String UNIT = "messages";

  private final Tags tags;
  private final CachedSample<Report> report;
  private final BoundMeters bound = new BoundMeters();

  /**
   * Meters with the tag {@code scope}.
   *
   * @param scope its name is the tag's value
   */
  public ScopeMeters(ActorScope scope) {
    this(scope, Tags.empty());
  }

  /**
   * Meters with the tag {@code scope} and more. Two scopes of one name need a tag that tells them
   * apart: otherwise the registry keeps the meters of the first.
   *
   * @param scope its name is the tag's value
   * @param tags on all meters
   */
  public ScopeMeters(ActorScope scope, Iterable<Tag> tags) {
    this.tags = Tags.of("scope", scope.name()).and(tags);
    this.report = new CachedSample<>(scope::report);
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    bindCount(registry, "handled", Report::handled);
    for (var reason : DeadLetter.Reason.values()) bindCount(registry, reason.name().toLowerCase(Locale.ROOT),
        accounts -> accounts.unhandled().getOrDefault(reason, 0L));
    bindNow(registry, "waiting", "Messages in mailboxes", Report::queued);
    bindNow(registry, "handling", "Messages that handlers are at", Report::handling);
  }

  private void bindNow(MeterRegistry registry, String what, String description, ToLongFunction<Report> count) {
    bound.add(registry, Gauge.builder("fibry.messages." + what, () -> count.applyAsLong(report.sample())).tags(tags)
        .baseUnit(UNIT).description(description).register(registry));
  }

  /** The function keeps the report, to which the registry refers weakly. */
  private void bindCount(MeterRegistry registry, String outcome, ToLongFunction<Report> count) {
    bound.add(registry, FunctionCounter.builder("fibry.messages", report, weak -> count.applyAsLong(report.sample()))
        .tags(tags).tag("outcome", outcome).baseUnit(UNIT).description("Messages by what became of them")
        .register(registry));
  }

  /** Removes the meters from their registries. */
  @Override
  public void close() {
    bound.remove();
  }
}
