package io.fibry.micrometer;

import io.fibry.ActorSystem;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;

/** The program of the README; {@link ReadmeTest} runs it. */
// @start region="shop"
class Shop {
  public static void main(String[] args) {
    var registry = new SimpleMeterRegistry();              // or that of your monitoring system
    var timers = new MessageMeters("shop");
    timers.bindTo(registry);

    try (var shop = ActorSystem.openScope("shop", options -> options.withContextPropagator(timers))) {
      new ScopeMeters(shop).bindTo(registry);
      var clerk = shop.named("clerk").newActorWithReturn((String order) -> order + " sold");
      clerk.ask("hat");
      clerk.ask("shoes");
    }

    var handled = registry.get("fibry.messages").tags("scope", "shop", "outcome", "handled").functionCounter();
    var handling = registry.get("fibry.handling").tag("scope", "shop").timer();
    System.out.println(handled.count() + " handled, " + handling.count() + " timed"); // prints 2.0 handled, 2 timed
  }
}
// @end
