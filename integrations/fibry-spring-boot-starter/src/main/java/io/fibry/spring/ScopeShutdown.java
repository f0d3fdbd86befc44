package io.fibry.spring;

import io.fibry.ActorScope;
import java.time.Duration;
import java.util.EnumMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ConfigurableApplicationContext;

/** Closes a scope with its context, and logs the counts of handled and unhandled messages. */
final class ScopeShutdown {
  private static final Logger LOG = LoggerFactory.getLogger(ScopeShutdown.class);
  private static final int MAX_SHOWN = 10;

  private ScopeShutdown() {}

  static ContextShutdown of(ConfigurableApplicationContext context, ActorScope scope, Duration drainLimit, int phase) {
    return new ContextShutdown(context, phase, () -> log(scope.closeWithin(drainLimit)));
  }

  private static void log(ActorScope.Report report) {
    var unhandled = new EnumMap<>(report.unhandled());
    unhandled.values().removeIf(count -> count == 0);
    if (report.deadLetters().isEmpty() && report.unresponsive().isEmpty())
      LOG.info("scope '{}' closed: {} messages handled, unhandled {}", report.scope(), report.handled(), unhandled);
    else
      LOG.warn(
          "scope '{}' closed and left {} messages, the first: {}; handlers that still run: {}; {} messages "
              + "handled, unhandled {}; a longer fibry.drain-limit gives handlers more time",
          report.scope(), report.deadLetters().size(), report.deadLetters().stream().limit(MAX_SHOWN).toList(),
          report.unresponsive(), report.handled(), unhandled);
  }
}
