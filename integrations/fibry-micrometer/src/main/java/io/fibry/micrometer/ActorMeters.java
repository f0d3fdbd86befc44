package io.fibry.micrometer;

import io.fibry.ActorScope;
import io.fibry.spi.ActorNames;
import io.fibry.spi.ActorTotals;
import io.fibry.spi.ActorTotals.Total;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * Meters of chosen actors, with the tags {@code scope} and {@code actor}. The counters are
 * {@code fibry.actor.handled}, {@code fibry.actor.failed}, {@code fibry.actor.refused},
 * {@code fibry.actor.dropped} and {@code fibry.actor.restarted}. The gauges are
 * {@code fibry.actor.living}, {@code fibry.actor.suspended}, {@code fibry.actor.waiting},
 * {@code fibry.actor.oldest.waiting} and {@code fibry.actor.busy}. Thread-safe.
 * {@snippet class="io.fibry.micrometer.ActorMetersTest" region="actors"}
 *
 * <p>The gauges {@code fibry.actor.max.busy} and {@code fibry.actor.max.waiting} have the further
 * tag {@code name}: the actor that has been busy for longest, and the actor whose message has
 * waited for longest. They exist only while that time is at least ten seconds. The gauges
 * {@code fibry.actor.max.failed}, {@code fibry.actor.max.refused},
 * {@code fibry.actor.max.restarted} and {@code fibry.actor.max.expired} (requests that expire in
 * its mailbox) name the actor with the most of these problems in five minutes. They exist until the
 * end of the next five minutes. The gauge {@code fibry.actor.max.grown} names the actor whose
 * mailbox has grown most in five minutes, while it grows, and {@code fibry.actor.max.queued} the
 * actor for which most messages wait; both from 100 messages on. The gauge
 * {@code fibry.actor.max.suspended} names a suspended actor. So there is at most one gauge of each
 * kind for each name that is given, and an alert names the actor. An actor that waits for another
 * actor of these meters does not count as busy while that actor has work.
 *
 * <p>A name that ends in {@code *} has one meter for all actors whose name begins so. An actor
 * belongs to the first name that matches. Thus the number of meters does not grow with the number
 * of actors. The counters include actors that have ended since this object was made, and never
 * shrink. A name without an actor shows zeros.
 */
public final class ActorMeters implements MeterBinder, AutoCloseable {
  private final ActorScope scope;
  private final ActorNames actors;
  private final Tags tags;
  private final ActorTotals totals;
  private final BoundMeters registered = new BoundMeters();
  private final List<NamedActorGauges> namedGauges = new ArrayList<>(); // guarded by the monitor

  /**
   * Makes meters of the actors with these names.
   *
   * @param scope the scope of the actors; actors in scopes inside it are found, too
   * @param actors names of actors, or beginnings of names that end in {@code *}; an actor may be
   * made later
   * @throws IllegalArgumentException if there is no name, or a name can match no actor, because it
   * is given twice or an earlier name matches all its actors
   */
  public ActorMeters(ActorScope scope, String... actors) {
    this(scope, List.of(actors), Tags.empty());
  }

  /**
   * Makes meters of the actors with these names, with tags of your own.
   *
   * @param scope the scope of the actors; actors in scopes inside it are found, too
   * @param actors names of actors, or beginnings of names that end in {@code *}; an actor may be
   * made later
   * @param tags more tags of all meters
   * @throws IllegalArgumentException if there is no name, or a name can match no actor, because it
   * is given twice or an earlier name matches all its actors
   */
  public ActorMeters(ActorScope scope, Collection<String> actors, Iterable<Tag> tags) {
    this.scope = scope;
    this.actors = ActorNames.of(actors);
    this.tags = Tags.of("scope", scope.name()).and(tags);
    this.totals = ActorTotals.of(scope, this.actors);
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    var sums = new CachedSample<>(totals::read, registry.config().clock()); // in the order of the names
    var groups = actors.list().stream().map(name -> tags.and("actor", name)).toList();
    var gauges = new NamedActorGauges(registry, groups, sums);
    synchronized (this) {
      namedGauges.add(gauges);
    }
    for (int i = 0; i < groups.size(); i++)
      bind(new NameMeters(registry, i, groups.get(i), gauges, registered));
  }

  private static void bind(NameMeters meters) {
    meters.count("handled", "Messages and steps that these actors have handled", Total::handled);
    meters.count("failed", "Messages at which these actors have failed", Total::failed);
    meters.count("refused", "Messages that full mailboxes have not taken", Total::refused);
    meters.count("dropped", "Messages that full mailboxes have taken, and dropped later", Total::dropped);
    meters.count("restarted", "Restarts of these actors", Total::restarted);
    meters.gauge("suspended", "Actors that are suspended after a failure", Total::suspended);
    meters.gauge("living", "Actors that have not ended", Total::living);
    meters.gauge("waiting", "Messages that wait for these actors", Total::queued);
    meters.time("oldest.waiting", "How long at least the oldest of these messages has waited", Total::oldestWaiting);
    meters.time("busy",
        "The longest time of one of these actors on its message or step, without waits for another busy actor",
        Total::busyFor);
  }

  /** Registers the meters of one name in one registry. */
  private record NameMeters(MeterRegistry registry, int index, Tags tags, NamedActorGauges named,
      BoundMeters registered) {

    void count(String suffix, String description, ToLongFunction<Total> measure) {
      registered.count(registry, "fibry.actor." + suffix, tags, description, () -> measure.applyAsLong(sum()));
    }

    void gauge(String suffix, String description, ToLongFunction<Total> measure) {
      registered.gauge(registry, "fibry.actor." + suffix, tags, description, () -> measure.applyAsLong(sum()));
    }

    void time(String suffix, String description, Function<Total, Duration> measure) {
      registered.add(registry, TimeGauge
          .builder("fibry.actor." + suffix, () -> measure.apply(sum()).toNanos(), TimeUnit.NANOSECONDS)
          .tags(tags).description(description).register(registry));
    }

    private Total sum() {
      return named.sample().get(index);
    }
  }

  /** Removes the meters from their registries, and ends the sums. */
  @Override
  public synchronized void close() {
    namedGauges.forEach(NamedActorGauges::close);
    namedGauges.clear();
    registered.remove();
    totals.close();
  }

  @Override
  public String toString() {
    return "meters of " + actors + " in scope '" + scope.name() + "'";
  }
}
