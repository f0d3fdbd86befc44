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
final class MessageTimers implements MeterBinder, Stopwatch {
  // this and the next: by whoever makes scopes or binds, under the monitor
  private final List<Watch> watches = new ArrayList<>();
  // of several the last one, but there is one that is made of all
  private @Nullable MeterRegistry registry;

  @Override
  public synchronized void bindTo(MeterRegistry registry) {
    this.registry = registry;
    for (var watch : watches) watch.bindTo(registry);
  }

  @Override
  public synchronized ActorScope.Options applyTo(ActorScope.Options options, String scope) {
    var watch = new Watch(scope);
    watches.add(watch);
    if (registry != null) watch.bindTo(registry);
    return options.withCarrier(watch);
  }

  private static final class Watch implements ActorScope.Carrier<@Nullable Stamp> {
    private final String scope;
    // null until bound, and nothing is captured; read by senders
    private volatile @Nullable Times times;

    Watch(String scope) {
      this.scope = scope;
    }

    void bindTo(MeterRegistry registry) {
      times = new Times(timer(registry, "fibry.wait", "Time in mailboxes"),
          timer(registry, "fibry.handling", "Time in handlers"));
    }

    private Timer timer(MeterRegistry registry, String name, String description) {
      return Timer.builder(name).tag("scope", scope).description(description).register(registry);
    }

    @Override
    public @Nullable Stamp capture() {
      var now = times;
      return now == null ? null : new Stamp(now, System.nanoTime());
    }

    @Override
    public AutoCloseable set(@Nullable Stamp sent) {
      return sent == null ? () -> {} : sent.begin(); // it never is: nothing captured is nothing set
    }
  }

  private record Times(Timer waiting, Timer handling) {}

  /** When something was sent. */
  private static final class Stamp {
    private final Times times;
    private final long sent;
    // the first handler's thread, and later ones; two of a pool at once may both count a wait
    private boolean taken;

    Stamp(Times times, long sent) {
      this.times = times;
      this.sent = sent;
    }

    AutoCloseable begin() {
      long began = System.nanoTime();
      if (!taken) times.waiting.record(began - sent, TimeUnit.NANOSECONDS);
      taken = true;
      return () -> times.handling.record(System.nanoTime() - began, TimeUnit.NANOSECONDS);
    }
  }
}
