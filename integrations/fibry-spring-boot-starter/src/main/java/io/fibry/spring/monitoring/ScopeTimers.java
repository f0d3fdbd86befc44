package io.fibry.spring.monitoring;

import io.fibry.ActorScope;
import io.fibry.micrometer.MessageMeters;
import io.fibry.spring.MessageTiming;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.ArrayList;
import java.util.List;

/** The meters of message times. A scope may be opened before or after a registry is bound. */
final class ScopeTimers implements MeterBinder, MessageTiming {
  // both lists are guarded by the monitor
  private final List<MessageMeters> timers = new ArrayList<>();
  private final List<MeterRegistry> registries = new ArrayList<>();
  private final String[] actors; // names of actors that are timed separately; may be empty

  ScopeTimers(List<String> actors) {
    this.actors = actors.toArray(String[]::new);
  }

  @Override
  public synchronized void bindTo(MeterRegistry registry) {
    registries.add(registry);
    timers.forEach(meters -> meters.bindTo(registry));
  }

  @Override
  public synchronized ActorScope.Options applyTo(ActorScope.Options options, String scope) {
    var all = new MessageMeters(scope);
    var meters = actors.length == 0 ? all : all.withActors(actors);
    registries.forEach(meters::bindTo);
    timers.add(meters);
    return options.withContextPropagator(meters);
  }
}
