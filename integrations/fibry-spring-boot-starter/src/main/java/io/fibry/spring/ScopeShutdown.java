package io.fibry.spring;

import io.fibry.ActorScope;
import io.fibry.text.Lines;
import io.fibry.text.SafeLogger;
import java.time.Duration;
import java.util.EnumMap;
import org.slf4j.Logger;
import org.springframework.context.ConfigurableApplicationContext;

/** Closes a scope with its context, and logs the counts of handled and unhandled messages. */
final class ScopeShutdown {
  private static final Logger LOG = SafeLogger.of(ScopeShutdown.class);
  private static final int MAX_SHOWN = 10;

  private ScopeShutdown() {}

  static ContextShutdown of(ConfigurableApplicationContext context, ActorScope scope, Duration drainLimit, int phase) {
    return new ContextShutdown(context, phase, () -> log(scope.closeWithin(drainLimit)));
  }

  private static void log(ActorScope.Report report) {
    var unhandled = new EnumMap<>(report.unhandled());
    unhandled.values().removeIf(count -> count == 0);
    if (report.deadLetters().isEmpty() && report.unresponsive().isEmpty())
      LOG.info("scope '{}' closed: {} handled, unhandled {}", report.scope(), Lines.count(report.handled(), "message"),
          unhandled);
    else
      LOG.warn(
          "scope '{}' closed and left {}, the first: {}; handlers that still run: {}; {} handled, "
              + "unhandled {}; a longer fibry.drain-limit gives handlers more time",
          report.scope(), Lines.count(report.deadLetters().size(), "message"),
          report.deadLetters().stream().limit(MAX_SHOWN).toList(),
          report.unresponsive(), Lines.count(report.handled(), "message"), unhandled);
  }
}
