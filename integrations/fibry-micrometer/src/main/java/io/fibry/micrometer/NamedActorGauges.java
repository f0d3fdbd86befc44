package io.fibry.micrometer;

import io.fibry.spi.ActorTotals.Total;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Gauges in one registry that name actors: for each group of actors, the actor that has been busy
 * for longest, and the actor whose message has waited for longest. A gauge exists only while that
 * time is at least ten seconds. So an alert names the actor, and the registry has at most two such
 * gauges for each group. Thread-safe.
 *
 * <p>The gauges change when the registry reads another meter of the actors. A thread that finds
 * another thread changing them does not wait, because it may have locked the registry, which the
 * other thread needs.
 */
final class NamedActorGauges {
  private static final Duration MIN_SHOWN = Duration.ofSeconds(10);

  private final MeterRegistry registry;
  private final List<NamedGauge> busy = new ArrayList<>(); // by the index of the group
  private final List<NamedGauge> waiting = new ArrayList<>();
  private final ReentrantLock lock = new ReentrantLock();
  private volatile @Nullable List<Total> shown; // written with the lock; null: none
  private boolean isClosed; // guarded by the lock

  /** A gauge whose name may change. Guarded by the lock, except for the value. */
  private final class NamedGauge {
    private final String meter;
    private final String description;
    private final Tags tags;
    private volatile long nanos; // the value, which the registry reads
    private Optional<String> name = Optional.empty();
    private @Nullable Meter registered; // null: there is no actor to show

    NamedGauge(String meter, String description, Tags tags) {
      this.meter = meter;
      this.description = description;
      this.tags = tags;
    }

    void show(Optional<String> actor, Duration time) {
      nanos = time.toNanos();
      var next = time.compareTo(MIN_SHOWN) < 0 ? Optional.<String>empty() : actor;
      if (next.equals(name)) return;
      name = next;
      if (registered != null) registry.remove(registered);
      registered = next.isEmpty() ? null
          : TimeGauge.builder(meter, () -> nanos, TimeUnit.NANOSECONDS).tags(tags).tag("name", next.get())
              .description(description).register(registry);
    }
  }

  /**
   * Makes gauges for groups of actors.
   *
   * @param groups the tags of each group
   */
  NamedActorGauges(MeterRegistry registry, List<Tags> groups) {
    this.registry = registry;
    for (var tags : groups) {
      busy.add(new NamedGauge("fibry.actor.max.busy",
          "How long the actor of this name has handled its message or step, from 10 s on", tags));
      waiting.add(new NamedGauge("fibry.actor.max.waiting",
          "How long at least a message has waited for the actor of this name, from 10 s on", tags));
    }
  }

  /** Shows these sums, which have the order of the groups. */
  void show(List<Total> sums) {
    if (sums == shown || !lock.tryLock()) return;
    try {
      if (!isClosed) for (int i = 0; i < sums.size(); i++) {
        var sum = sums.get(i);
        busy.get(i).show(sum.busiestActor(), sum.busyFor());
        waiting.get(i).show(sum.oldestWaitingActor(), sum.oldestWaiting());
      }
      shown = sums;
    } finally {
      lock.unlock();
    }
  }

  void close() {
    lock.lock();
    try {
      isClosed = true;
      for (var gauge : busy) gauge.show(Optional.empty(), Duration.ZERO);
      for (var gauge : waiting) gauge.show(Optional.empty(), Duration.ZERO);
    } finally {
      lock.unlock();
    }
  }
}
