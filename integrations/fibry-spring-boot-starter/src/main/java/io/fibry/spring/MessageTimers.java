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
 * The timers {@code fibry.wait}, until the handler begins, and {@code fibry.handling}, until it
 * ends. Inline requests bypass carriers and are not timed. Messages of one periodic timer or block
 * share one capture: only the first records a wait, which includes a timer's delay.
 */
final class MessageTimers implements MeterBinder, MessageTiming {
  // both guarded by the monitor
  private final List<TimingCarrier> carriers = new ArrayList<>();
  // the last one bound; Spring Boot combines several into one
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
    // written when bound, read by senders; null: nothing is captured
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
      return sent == null ? () -> {} : sent.begin(); // never null: no capture, no set
    }
  }

  private record ScopeTimers(Timer waiting, Timer handling) {}

  private static final class SendTime {
    private final ScopeTimers timers;
    private final long sent;
    // by handlers' threads; two workers of a pool may both see false
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
