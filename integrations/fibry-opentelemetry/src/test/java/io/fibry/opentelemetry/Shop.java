package io.fibry.opentelemetry;

import io.fibry.ActorSystem;
import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.context.Context;

/** The program of the README; {@link ReadmeTest} runs it. */
// @start region="shop"
class Shop {
  public static void main(String[] args) {
    sell(GlobalOpenTelemetry.get());                       // set by the Java agent, or by your program
  }

  static void sell(OpenTelemetry openTelemetry) {
    var traces = OpenTelemetryTraces.of(openTelemetry, options -> options.withLocalSpans(actor -> true));
    var durations = MessageDurations.of(openTelemetry, "shop");
    try (var shop = ActorSystem.openScope("shop",
        options -> options.withContextPropagator(traces).withContextPropagator(durations))) {
      OpenTelemetryMetrics.of(openTelemetry).addScope(shop).addScheduler();

      var clerk = shop.named("clerk").newActorWithReturn((String order) -> order + " sold");
      var order = openTelemetry.getTracer("shop").spanBuilder("order").startSpan();
      Context.current().with(order).wrap(() -> System.out.println(clerk.ask("hat"))).run(); // prints hat sold
      order.end();                                         // its child is the span "handle clerk"
    }
  }
}
// @end
