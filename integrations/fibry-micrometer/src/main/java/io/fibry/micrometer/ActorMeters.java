package io.fibry.micrometer;

import io.fibry.ActorScope;
import io.fibry.ActorStats;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Collection;
import java.util.List;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/**
 * Meters of chosen actors, with the tags {@code scope} and {@code actor}: the counters
 * {@code fibry.actor.handled}, {@code fibry.actor.failed} and {@code fibry.actor.refused}, and the
 * gauges {@code fibry.actor.waiting} and {@code fibry.actor.busy}. Thread-safe.
 *
 * <p>The names are given in advance, so the number of meters does not grow with the number of
 * actors. If several actors in nested scopes have one name, the meters show the first of them.
 * While no actor has the name, the gauges have no value, and the counters keep their last values.
 * The counts of a new actor with the name begin at zero.
 */
public final class ActorMeters implements MeterBinder, AutoCloseable {
  private final ActorScope scope;
  private final Set<String> actors;
  private final Tags tags;
  private final CachedSample<List<ActorStats>> stats;
  private final BoundMeters registered = new BoundMeters();

  /** A count of one actor. After the actor's end it keeps its last value. */
  private static final class LastingCount {
    private final Supplier<OptionalDouble> source;
    private double lastValue; // guarded by the monitor

    LastingCount(Supplier<OptionalDouble> source) {
      this.source = source;
    }

    synchronized double value() {
      return lastValue = source.get().orElse(lastValue);
    }
  }

  /**
   * Makes meters of the actors with these names.
   *
   * @param scope the scope of the actors; actors in scopes inside it are found, too
   * @param actors names of actors; an actor may be made later
   */
  public ActorMeters(ActorScope scope, String... actors) {
    this(scope, List.of(actors), Tags.empty());
  }

  /**
   * Makes meters of the actors with these names, with tags of your own.
   *
   * @param scope the scope of the actors; actors in scopes inside it are found, too
   * @param actors names of actors; an actor may be made later
   * @param tags more tags of all meters
   */
  public ActorMeters(ActorScope scope, Collection<String> actors, Iterable<Tag> tags) {
    this.scope = scope;
    this.actors = new TreeSet<>(actors);
    if (this.actors.isEmpty())
      throw new IllegalArgumentException("meters of no actor have no values; give at least one name");
    this.tags = Tags.of("scope", scope.name()).and(tags);
    this.stats = new CachedSample<>(scope::actors);
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    for (var name : actors) {
      count(registry, name, "handled", "Messages and steps that an actor has handled", ActorStats::handled);
      count(registry, name, "failed", "Messages at which an actor has failed", ActorStats::failed);
      count(registry, name, "refused", "Messages that the full mailbox of an actor has refused or dropped",
          ActorStats::refused);
      var actorTags = tags.and("actor", name);
      registered.add(registry, Gauge.builder("fibry.actor.waiting", () -> gauge(name, ActorStats::queued))
          .tags(actorTags).baseUnit(ScopeMeters.UNIT)
          .description("Messages that wait for an actor").register(registry));
      registered.add(registry, TimeGauge
          .builder("fibry.actor.busy", () -> gauge(name, actor -> actor.busyFor().toNanos()), TimeUnit.NANOSECONDS)
          .tags(actorTags)
          .description("For how long an actor has handled its current message or step").register(registry));
    }
  }

  /**
   * Registers a counter. The registry has only a weak reference to the {@link LastingCount}. The
   * function refers to the count, too, so that the count is not collected.
   */
  private void count(MeterRegistry registry, String name, String suffix, String description,
      ToDoubleFunction<ActorStats> measure) {
    var count = new LastingCount(() -> find(name, measure));
    registered.add(registry, FunctionCounter.builder("fibry.actor." + suffix, count, unused -> count.value())
        .tags(tags.and("actor", name)).baseUnit(ScopeMeters.UNIT).description(description).register(registry));
  }

  private double gauge(String name, ToDoubleFunction<ActorStats> measure) {
    return find(name, measure).orElse(Double.NaN);
  }

  /** Returns a value of the actor with this name; empty if no living actor has it. */
  private OptionalDouble find(String name, ToDoubleFunction<ActorStats> measure) {
    return stats.sample().stream().filter(actor -> actor.name().equals(name)).mapToDouble(measure).findFirst();
  }

  /** Removes the meters from their registries. */
  @Override
  public void close() {
    registered.remove();
  }

  @Override
  public String toString() {
    return "meters of " + actors + " in scope '" + scope.name() + "'";
  }
}
