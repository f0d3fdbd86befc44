package io.fibry.spring;

import io.fibry.ActorScope;
import java.time.Duration;
import java.util.EnumMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;

/**
 * Closes a scope with its context: after the web server has finished its requests, before any bean
 * that handlers use. Logs the outcome of the messages. A context that is only stopped may start
 * again, so its scope stays open.
 */
final class ScopeClosing implements SmartLifecycle {
  /**
   * Higher phases end first. Web servers finish their requests 1,024 below the highest, and cut
   * connections 2,048 below. Between, the server's own executor ends: Tomcat counts a request as
   * finished before the end of its answer has left.
   */
  static final int SERVERS = DEFAULT_PHASE - 1536;
  static final int EXECUTORS = DEFAULT_PHASE - 3072;
  static final int NODES = DEFAULT_PHASE - 3584;
  static final int ACTORS = DEFAULT_PHASE - 4096;

  private static final Logger LOG = LoggerFactory.getLogger(ScopeClosing.class);
  private static final int SHOWN = 10;

  private final ConfigurableApplicationContext context;
  private final ActorScope scope;
  private final Duration drainLimit;
  private final int phase;
  // written when the context starts or closes, read by any thread
  private volatile boolean running;

  ScopeClosing(ConfigurableApplicationContext context, ActorScope scope, Duration drainLimit, int phase) {
    this.context = context;
    this.scope = scope;
    this.drainLimit = drainLimit;
    this.phase = phase;
  }

  @Override
  public void start() {
    running = true;
  }

  @Override
  public void stop() {
    if (!context.isClosed()) return;
    running = false;
    log(scope.closeWithin(drainLimit));
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  @Override
  public int getPhase() {
    return phase;
  }

  private static void log(ActorScope.Report report) {
    var unhandled = new EnumMap<>(report.unhandled());
    unhandled.values().removeIf(count -> count == 0);
    if (report.leftovers().isEmpty() && report.running().isEmpty())
      LOG.info("scope '{}' closed: {} messages handled, unhandled {}", report.scope(), report.handled(), unhandled);
    else
      LOG.warn(
          "scope '{}' closed and left {} messages, the first: {}; handlers that still run: {}; {} messages "
              + "handled, unhandled {}; a longer fibry.drain-limit gives them more time",
          report.scope(), report.leftovers().size(), report.leftovers().stream().limit(SHOWN).toList(),
          report.running(), report.handled(), unhandled);
  }
}
