package io.fibry.spring;

import io.fibry.ActorScope;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The timers {@code fibry.wait}, from the send to the handler, and {@code fibry.handling}, until
 * the handler ends, even if it fails. Inline requests are not timed: carriers do not see them. All
 * messages of a periodic timer share what was captured at its start: the first one counts its delay
 * as waiting, the others record their handling only. The same holds for a block of messages.
 */
final class MessageTimers implements MeterBinder, MessageTiming {
  // written by threads that make scopes or bind registries, under the monitor; so is the registry
  private final List<TimingCarrier> carriers = new ArrayList<>();
  // the last one bound; of several registries, Spring Boot makes a composite
  private @Nullable MeterRegistry registry;

  @Override
  public synchronized void bindTo(MeterRegistry registry) {
    this.registry = registry;
    for (var carrier : carriers) carrier.bindTo(registry);
  }

  @Override
  public synchronized ActorScope.Options applyTo(ActorScope.Options options, String scope) {
    var carrier = new TimingCarrier(scope);
    carriers.add(carrier);
    if (registry != null) carrier.bindTo(registry);
    return options.withCarrier(carrier);
  }

  private static final class TimingCarrier implements ActorScope.Carrier<@Nullable SendTime> {
    private final String scope;
    // written by the binding thread, read by senders; null until then, so that nothing is captured
    private volatile @Nullable ScopeTimers timers;

    TimingCarrier(String scope) {
      this.scope = scope;
    }

    void bindTo(MeterRegistry registry) {
      timers = new ScopeTimers(timer(registry, "fibry.wait", "Time in mailboxes"),
          timer(registry, "fibry.handling", "Time in handlers"));
    }

    private Timer timer(MeterRegistry registry, String name, String description) {
      return Timer.builder(name).tag("scope", scope).description(description).register(registry);
    }

    @Override
    public @Nullable SendTime capture() {
      var now = timers;
      return now == null ? null : new SendTime(now, System.nanoTime());
    }

    @Override
    public AutoCloseable set(@Nullable SendTime sent) {
      return sent == null ? () -> {} : sent.begin(); // never null: set is called for a capture only
    }
  }

  private record ScopeTimers(Timer waiting, Timer handling) {}

  /** When a message, or all messages of a timer or block, were sent. */
  private static final class SendTime {
    private final ScopeTimers timers;
    private final long sent;
    // whether the wait was recorded; by handlers' threads, so two workers of a pool may both do it
    private boolean recorded;

    SendTime(ScopeTimers timers, long sent) {
      this.timers = timers;
      this.sent = sent;
    }

    AutoCloseable begin() {
      long began = System.nanoTime();
      if (!recorded) timers.waiting.record(began - sent, TimeUnit.NANOSECONDS);
      recorded = true;
      return () -> timers.handling.record(System.nanoTime() - began, TimeUnit.NANOSECONDS);
    }
  }
}
