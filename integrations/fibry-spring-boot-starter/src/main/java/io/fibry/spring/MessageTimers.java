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
 * How long messages wait and how long they are handled, as the timers {@code fibry.wait} and
 * {@code fibry.handling}: from the send to the code around the handler, and from there until it is
 * done, whatever came of it. Inline requests, which wait for nothing and take nothing along, are
 * not timed. A timer of an actor captures when it is started, and all its messages share that: so
 * the first one counts its delay as waiting, and the others, like those of a block, are only timed
 * in their handling.
 */
final class MessageTimers implements MeterBinder, MessageTiming {
  // this and the next: by whoever makes scopes or binds, under the monitor
  private final List<TimingCarrier> carriers = new ArrayList<>();
  // of several the last one, but there is one that is made of all
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
    // null until bound, and nothing is captured; read by senders
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
      return sent == null ? () -> {} : sent.begin(); // it never is: nothing captured is nothing set
    }
  }

  private record ScopeTimers(Timer waiting, Timer handling) {}

  /** When something was sent. */
  private static final class SendTime {
    private final ScopeTimers timers;
    private final long sent;
    // the first handler's thread, and later ones; two of a pool at once may both count a wait
    private boolean taken;

    SendTime(ScopeTimers timers, long sent) {
      this.timers = timers;
      this.sent = sent;
    }

    AutoCloseable begin() {
      long began = System.nanoTime();
      if (!taken) timers.waiting.record(began - sent, TimeUnit.NANOSECONDS);
      taken = true;
      return () -> timers.handling.record(System.nanoTime() - began, TimeUnit.NANOSECONDS);
    }
  }
}
