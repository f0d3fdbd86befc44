package io.fibry.micrometer;

import io.fibry.spi.ActorTotals.Total;
import io.fibry.spi.ActorTotals.Worst;
import io.micrometer.core.instrument.Gauge;
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
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Gauges in one registry that name actors of each group: the actor that has been busy for longest,
 * and the actor whose message has waited for longest. Four more gauges name the actors that have
 * failed, refused, restarted and let requests expire most in the last minutes. The others name an
 * actor whose mailbox grows, an actor for which many messages wait, and a suspended actor. A gauge
 * exists only while there is such an actor, and a gauge of a time only while this time is at least
 * ten seconds. So an alert names the actor, and the registry has at most nine such gauges for each
 * group. Thread-safe.
 *
 * <p>The gauges change when the registry reads a meter of the actors. A thread that finds another
 * thread changing them does not wait, because it may have locked the registry, which the other
 * thread needs.
 */
final class NamedActorGauges {
  private static final Duration MIN_SHOWN = Duration.ofSeconds(10);

  private final MeterRegistry registry;
  private final CachedSample<List<Total>> sums; // in the order of the groups
  private final List<NamedGauge> gauges = new ArrayList<>(); // all of the first group, then of the second, and so on
  private final ReentrantLock lock = new ReentrantLock();
  private volatile @Nullable List<Total> shown; // written with the lock; null: none
  private boolean isClosed; // guarded by the lock

  /** An actor, and a count or a time in nanoseconds. */
  private record NamedValue(String actor, double value) {
    static Optional<NamedValue> of(Optional<String> actor, Duration time) {
      return time.compareTo(MIN_SHOWN) < 0 ? Optional.empty()
          : actor.map(name -> new NamedValue(name, time.toNanos()));
    }

    static Optional<NamedValue> of(Optional<Worst> worst) {
      return worst.map(actor -> new NamedValue(actor.actor(), actor.count()));
    }
  }

  private enum Kind {
    BUSY("busy", "How long the actor of this name has handled its message or step, from 10 s on",
        sum -> NamedValue.of(sum.busiestActor(), sum.busyFor())),
    WAITING("waiting", "How long at least a message has waited for the actor of this name, from 10 s on",
        sum -> NamedValue.of(sum.oldestWaitingActor(), sum.oldestWaiting())),
    FAILED("failed", "Messages at which the actor of this name has failed lately",
        sum -> NamedValue.of(sum.worstFailing())),
    REFUSED("refused", "Messages that the full mailbox of the actor of this name has refused lately",
        sum -> NamedValue.of(sum.worstRefusing())),
    RESTARTED("restarted", "Restarts of the actor of this name lately",
        sum -> NamedValue.of(sum.worstRestarting())),
    EXPIRED("expired", "Requests that have expired lately in the mailbox of the actor of this name",
        sum -> NamedValue.of(sum.worstExpiring())),
    GROWN("grown", "How many more messages wait for the actor of this name than five minutes ago, from 100 on",
        sum -> NamedValue.of(sum.worstGrowing())),
    QUEUED("queued", "Messages that wait for the actor of this name, from 100 on",
        sum -> NamedValue.of(sum.longestQueue())),
    SUSPENDED("suspended", "1, or the number of its workers, while the actor of this name is suspended",
        sum -> NamedValue.of(sum.suspendedActor()));

    private final String meter;
    private final String description;
    private final Function<Total, Optional<NamedValue>> value;

    Kind(String suffix, String description, Function<Total, Optional<NamedValue>> value) {
      this.meter = "fibry.actor.max." + suffix;
      this.description = description;
      this.value = value;
    }

    boolean isTime() {
      return this == BUSY || this == WAITING;
    }
  }

  /** A gauge whose name may change. Guarded by the lock. */
  private final class NamedGauge {
    private final Kind kind;
    private final Tags tags;
    private @Nullable ShownActor actor; // null: there is no actor to show

    NamedGauge(Kind kind, Tags tags) {
      this.kind = kind;
      this.tags = tags;
    }

    void show(Optional<NamedValue> next) {
      var last = actor;
      if (last != null && next.isPresent() && next.get().actor.equals(last.name)) {
        last.value = next.get().value;
        return;
      }
      if (last != null) {
        last.value = 0; // for a registry that is reading this gauge
        if (last.meter != null) registry.remove(last.meter);
      }
      actor = next.map(ShownActor::new).orElse(null);
      if (actor != null) actor.meter = register(actor);
    }

    private Meter register(ShownActor added) {
      var ownTags = tags.and("name", added.name);
      return kind.isTime()
          ? TimeGauge.builder(kind.meter, () -> read(added), TimeUnit.NANOSECONDS).tags(ownTags)
              .description(kind.description).register(registry)
          : Gauge.builder(kind.meter, () -> read(added)).tags(ownTags).description(kind.description)
              .register(registry);
    }
  }

  /** An actor that a gauge names. */
  private static final class ShownActor {
    private final String name;
    private volatile double value; // written with the lock, read by the registry
    private @Nullable Meter meter; // guarded by the lock

    ShownActor(NamedValue first) {
      this.name = first.actor;
      this.value = first.value;
    }
  }

  /**
   * Makes gauges for groups of actors.
   *
   * @param groups the tags of each group
   * @param sums the sum of each group
   */
  NamedActorGauges(MeterRegistry registry, List<Tags> groups, CachedSample<List<Total>> sums) {
    this.registry = registry;
    this.sums = sums;
    for (var tags : groups) for (var kind : Kind.values()) gauges.add(new NamedGauge(kind, tags));
  }

  private double read(ShownActor actor) {
    sample();
    return actor.value;
  }

  /** Returns the sample of the sums, after the gauges show it. */
  List<Total> sample() {
    var sample = sums.sample();
    if (sample != shown && lock.tryLock()) try {
      if (!isClosed) show(sample);
      shown = sample;
    } finally {
      lock.unlock();
    }
    return sample;
  }

  private void show(List<Total> sample) {
    int kinds = Kind.values().length;
    for (int i = 0; i < gauges.size(); i++) {
      var gauge = gauges.get(i);
      gauge.show(gauge.kind.value.apply(sample.get(i / kinds)));
    }
  }

  void close() {
    lock.lock();
    try {
      isClosed = true;
      for (var gauge : gauges) gauge.show(Optional.empty());
    } finally {
      lock.unlock();
    }
  }
}
