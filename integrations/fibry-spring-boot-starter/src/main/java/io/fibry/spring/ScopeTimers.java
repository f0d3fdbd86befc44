package io.fibry.spring;

import io.fibry.ActorScope;
import io.fibry.micrometer.MessageMeters;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.ArrayList;
import java.util.List;

/** The timers of all scopes, whether they are opened before or after the registries. */
final class ScopeTimers implements MeterBinder, MessageTiming {
  // both guarded by the monitor
  private final List<MessageMeters> timers = new ArrayList<>();
  private final List<MeterRegistry> registries = new ArrayList<>();

  @Override
  public synchronized void bindTo(MeterRegistry registry) {
    registries.add(registry);
    timers.forEach(each -> each.bindTo(registry));
  }

  @Override
  public synchronized ActorScope.Options applyTo(ActorScope.Options options, String scope) {
    var more = new MessageMeters(scope);
    registries.forEach(more::bindTo);
    timers.add(more);
    return options.withContextPropagator(more);
  }
}
