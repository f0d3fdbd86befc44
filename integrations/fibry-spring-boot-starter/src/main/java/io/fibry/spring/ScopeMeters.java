package io.fibry.spring;

import io.fibry.ActorScope;
import io.fibry.ActorScope.Report;
import io.fibry.DeadLetter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

/**
 * The accounts of scopes as meters: {@code fibry.messages} by outcome, and
 * {@code fibry.messages.waiting}.
 */
final class ScopeMeters implements MeterBinder {
  private final List<CachedReport> reports; // registries refer to them weakly

  ScopeMeters(List<ActorScope> scopes) {
    this.reports = scopes.stream().map(CachedReport::new).toList();
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    for (var each : reports) {
      count(registry, each, "handled", Report::handled);
      for (var reason : DeadLetter.Reason.values()) count(registry, each, reason.name().toLowerCase(Locale.ROOT),
          report -> report.unhandled().getOrDefault(reason, 0L));
      Gauge.builder("fibry.messages.waiting", each, now -> now.report().waiting()).tag("scope", each.scope.name())
          .baseUnit("messages").description("Messages in mailboxes").register(registry);
    }
  }

  private static void count(MeterRegistry registry, CachedReport report, String outcome,
      ToDoubleFunction<Report> count) {
    FunctionCounter.builder("fibry.messages", report, now -> count.applyAsDouble(now.report()))
        .tag("scope", report.scope.name()).tag("outcome", outcome).baseUnit("messages")
        .description("Messages by what became of them").register(registry);
  }

  /** At most a second old: a report visits all actors, and meters are read together. */
  private static final class CachedReport {
    private static final long FRESH = TimeUnit.SECONDS.toNanos(1);

    private final ActorScope scope;
    // both guarded by the monitor
    private Report last;
    private long at;

    CachedReport(ActorScope scope) {
      this.scope = scope;
      this.last = scope.report();
      this.at = System.nanoTime() - FRESH;
    }

    synchronized Report report() {
      long now = System.nanoTime();
      if (now - at >= FRESH) {
        last = scope.report();
        at = now;
      }
      return last;
    }
  }
}
