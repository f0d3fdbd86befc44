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
 * Meters of some actors, with the tags {@code scope} and {@code actor}: the counters
 * {@code fibry.actor.handled} and {@code fibry.actor.failed}, and the gauges
 * {@code fibry.actor.waiting} and {@code fibry.actor.busy}. Thread-safe.
 *
 * <p>The names are given beforehand, so the number of meters does not grow with that of actors. If
 * several actors have one name, in scopes inside each other, the first one counts. While no such
 * actor lives, the gauges have no value, and the counters keep theirs; the counters of its
 * successor begin at zero.
 */
public final class ActorMeters implements MeterBinder, AutoCloseable {
  private final ActorScope scope;
  private final Set<String> actors;
  private final Tags tags;
  private final CachedSample<List<ActorStats>> figures;
  private final BoundMeters bound = new BoundMeters();

  /** A figure of one actor, which keeps its last value after the actor's end. */
  private static final class LastingCount {
    private final Supplier<OptionalDouble> source;
    private double last; // guarded by the monitor

    LastingCount(Supplier<OptionalDouble> source) {
      this.source = source;
    }

    synchronized double value() {
      return last = source.get().orElse(last);
    }
  }

  /**
   * Meters of these actors.
   *
   * @param scope that has them, also those in scopes inside it
   * @param actors names; a name that no actor has yet is fine
   */
  public ActorMeters(ActorScope scope, String... actors) {
    this(scope, List.of(actors), Tags.empty());
  }

  /**
   * Meters of these actors, with tags of your own.
   *
   * @param scope that has them, also those in scopes inside it
   * @param actors names; a name that no actor has yet is fine
   * @param tags on all meters
   */
  public ActorMeters(ActorScope scope, Collection<String> actors, Iterable<Tag> tags) {
    this.scope = scope;
    this.actors = new TreeSet<>(actors);
    if (this.actors.isEmpty())
      throw new IllegalArgumentException("meters of no actor would tell nothing; give the names of some");
    this.tags = Tags.of("scope", scope.name()).and(tags);
    this.figures = new CachedSample<>(scope::actors);
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    for (var name : actors) {
      count(registry, name, "handled", "Messages and steps that an actor has handled", ActorStats::handled);
      count(registry, name, "failed", "Messages at which an actor has failed", ActorStats::failed);
      var own = tags.and("actor", name);
      bound.add(registry, Gauge.builder("fibry.actor.waiting", () -> gauge(name, ActorStats::queued)).tags(own)
          .baseUnit(ScopeMeters.UNIT).description("Messages that wait for an actor").register(registry));
      bound.add(registry, TimeGauge
          .builder("fibry.actor.busy", () -> gauge(name, one -> one.busyFor().toNanos()), TimeUnit.NANOSECONDS)
          .tags(own)
          .description("For how long an actor has been at its message or step").register(registry));
    }
  }

  /** The function keeps the count, to which the registry refers weakly. */
  private void count(MeterRegistry registry, String name, String what, String description,
      ToDoubleFunction<ActorStats> figure) {
    var count = new LastingCount(() -> figure(name, figure));
    bound.add(registry, FunctionCounter.builder("fibry.actor." + what, count, weak -> count.value())
        .tags(tags.and("actor", name)).baseUnit(ScopeMeters.UNIT).description(description).register(registry));
  }

  private double gauge(String name, ToDoubleFunction<ActorStats> figure) {
    return figure(name, figure).orElse(Double.NaN);
  }

  /** Empty if no actor of that name lives. */
  private OptionalDouble figure(String name, ToDoubleFunction<ActorStats> figure) {
    return figures.sample().stream().filter(one -> one.name().equals(name)).mapToDouble(figure).findFirst();
  }

  /** Removes the meters from their registries. */
  @Override
  public void close() {
    bound.remove();
  }

  @Override
  public String toString() {
    return "meters of " + actors + " in scope '" + scope.name() + "'";
  }
}
