package io.fibry.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.FailurePolicy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.test.TestScope;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class ActorMetersTest {
  private final MockClock clock = new MockClock();
  private final MeterRegistry registry = new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);

  /** Makes the next read of a meter take a sample. */
  private void passSecond() {
    clock.addSeconds(1);
  }

  private double counter(String name, String actor) {
    return registry.get(name).tags("scope", "test", "actor", actor).functionCounter().count();
  }

  private double gauge(String name, String actor) {
    return registry.get(name).tags("scope", "test", "actor", actor).gauge().value();
  }

  @Test
  void metersShowCountsAndGaugesOfNamedActors() throws Exception {
    try (var scope = TestScope.fibers()) {
      var gate = new CountDownLatch(1);
      var entered = new CountDownLatch(1);
      var orders = scope.named("orders").onFailure(FailurePolicy.resume().withoutLog()).newActor((String message) -> {
        if (message.equals("fails")) throw new IllegalStateException("on purpose");
        if (!message.equals("waits")) return;
        entered.countDown();
        gate.await();
      });
      try {
        scope.named("payments").newActorWithReturn((Integer n) -> n).ask(1);
        for (var message : List.of("one", "two", "fails")) orders.sendMessage(message);
        scope.assertQuiet();
        for (var message : List.of("waits", "three")) orders.sendMessage(message);
        Patience.await(entered);

        // takes the first sample, which sees the waiting message
        new ActorMeters(scope, "orders", "payments").bindTo(registry);
        scope.clock().advance(Duration.ofSeconds(12));

        assertEquals(12, gauge("fibry.actor.oldest.waiting", "orders"));
        assertEquals(2, counter("fibry.actor.handled", "orders"));
        assertEquals(1, counter("fibry.actor.failed", "orders"));
        assertEquals(1, gauge("fibry.actor.waiting", "orders"));
        assertTrue(gauge("fibry.actor.busy", "orders") > 0);
        assertEquals(0, gauge("fibry.actor.oldest.waiting", "payments"));
        assertEquals(1, counter("fibry.actor.handled", "payments"));
        assertEquals(0, gauge("fibry.actor.busy", "payments"));
      } finally {
        gate.countDown();
      }
    }
  }

  private List<String> longest(String meter) {
    passSecond();
    for (var actor : List.of("orders", "*")) gauge("fibry.actor.busy", actor); // takes a sample
    return registry.find(meter).timeGauges().stream()
        .map(gauge -> gauge.getId().getTag("actor") + "/" + gauge.getId().getTag("name") + " " + gauge.value())
        .toList();
  }

  /** All actors of a sum have the same tag {@code actor}, so an alert needs a name. */
  @Test
  void actorThatIsBusyOrWaitsForTenSecondsIsNamed() {
    try (var scope = TestScope.fibers(); var meters = new ActorMeters(scope, "orders", "*")) {
      var gate = new CountDownLatch(1);
      var entered = new CountDownLatch(1);
      var stuck = scope.named("stuck").newActor((String message) -> {
        entered.countDown();
        gate.await();
      });
      try {
        stuck.sendMessage("handled");
        Patience.await(entered);
        stuck.sendMessage("waits");
        meters.bindTo(registry);
        scope.clock().advance(Duration.ofMillis(9_999));
        assertEquals(List.of(), longest("fibry.actor.max.busy"));

        scope.clock().advance(Duration.ofMillis(1));

        assertEquals(List.of("*/stuck 10.0"), longest("fibry.actor.max.busy"));
        assertEquals(List.of("*/stuck 10.0"), longest("fibry.actor.max.waiting"));
        scope.clock().advance(Duration.ofSeconds(2));
        assertEquals(List.of("*/stuck 12.0"), longest("fibry.actor.max.busy"));
      } finally {
        gate.countDown();
      }
      scope.assertQuiet();
      assertEquals(List.of(), longest("fibry.actor.max.busy"));
      assertEquals(List.of(), longest("fibry.actor.max.waiting"));
    }
    assertEquals(List.of(), registry.getMeters());
  }

  /** A listener of the registry may hold the registry's lock while it reads a meter. */
  @Test
  void meterIsReadWhileAnotherThreadRegistersGauge() {
    try (var scope = TestScope.fibers(); var meters = new ActorMeters(scope, "*")) {
      var gate = new CountDownLatch(1);
      var entered = new CountDownLatch(1);
      try {
        scope.named("stuck").newActor((String message) -> {
          entered.countDown();
          gate.await();
        }).sendMessage("handled");
        Patience.await(entered);
        meters.bindTo(registry);
        registry.config().onMeterAdded(added -> Patience.value(Patience.callOnFiber(() -> {
          passSecond();
          return gauge("fibry.actor.living", "*");
        })));
        scope.clock().advance(Duration.ofSeconds(10));
        passSecond();

        assertEquals(1, gauge("fibry.actor.living", "*"));
        assertEquals("stuck", registry.get("fibry.actor.max.busy").timeGauge().getId().getTag("name"));
      } finally {
        gate.countDown();
      }
    }
  }

  @Test
  void restartsAndSuspendedActorsAreMetered() {
    try (var scope = TestScope.fibers()) {
      new ActorMeters(scope, "orders").bindTo(registry);
      new ScopeMeters(scope).bindTo(registry);
      scope.named("orders")
          .onFailure(FailurePolicy.restart().withBackoff(Duration.ofSeconds(1), Duration.ofSeconds(1)).withoutLog())
          .newActor((String message) -> {
            throw new IllegalStateException("on purpose");
          }).sendMessage("fails");
      Patience.eventually(() -> {
        passSecond();
        return gauge("fibry.actor.suspended", "orders") == 1;
      });
      assertEquals(1, registry.get("fibry.scope.suspended").tag("scope", "test").gauge().value());

      scope.advance(Duration.ofSeconds(1));
      passSecond();

      assertEquals(0, gauge("fibry.actor.suspended", "orders"));
      assertEquals(0, registry.get("fibry.scope.suspended").gauge().value());
      assertEquals(1, counter("fibry.actor.restarted", "orders"));
      assertEquals(1, registry.get("fibry.scope.restarted").tag("scope", "test").functionCounter().count());
    }
  }

  @Test
  void counterShowsMessagesThatMailboxRefused() {
    try (var scope = TestScope.fibers()) {
      var gate = new CountDownLatch(1);
      var entered = new CountDownLatch(1);
      var actor = scope.named("orders").mailbox(Mailbox.bounded(1, Overflow.REJECT)).newActor((String message) -> {
        entered.countDown();
        gate.await();
      });
      try {
        actor.sendMessage("handled");
        Patience.await(entered);
        for (var message : List.of("waits", "refused", "refused")) actor.sendMessage(message);

        new ActorMeters(scope, "orders").bindTo(registry);

        assertEquals(2, counter("fibry.actor.refused", "orders"));
        assertEquals(0, counter("fibry.actor.dropped", "orders"));
      } finally {
        gate.countDown();
      }
    }
  }

  /** A mailbox that drops on purpose must not look like a full mailbox. */
  @Test
  void droppedMessagesAreCountedApartFromRefusedMessages() {
    try (var scope = TestScope.fibers()) {
      var gate = new CountDownLatch(1);
      var entered = new CountDownLatch(1);
      var actor = scope.named("orders").mailbox(Mailbox.bounded(1, Overflow.DROP_OLDEST))
          .newActor((String message) -> {
            entered.countDown();
            gate.await();
          });
      try {
        actor.sendMessage("handled");
        Patience.await(entered);
        for (var message : List.of("dropped", "dropped", "waits")) actor.sendMessage(message);

        new ActorMeters(scope, "orders").bindTo(registry);

        assertEquals(0, counter("fibry.actor.refused", "orders"));
        assertEquals(2, counter("fibry.actor.dropped", "orders"));
      } finally {
        gate.countDown();
      }
    }
  }

  /** An alert on the group {@code *} needs the name of an actor. */
  @Test
  void actorThatFailsAndRestartsMostIsNamed() {
    try (var scope = TestScope.fibers(); var meters = new ActorMeters(scope, "orders", "*")) {
      meters.bindTo(registry);
      for (int i = 0; i < 5; i++) {
        var actor = scope.named("cart-" + i).onFailure(FailurePolicy.restart().withoutLog())
            .newActor((String message) -> {
              throw new IllegalStateException("on purpose");
            });
        for (int failure = 0; failure < i; failure++) actor.sendMessage("fails");
      }
      scope.assertQuiet();

      assertEquals(List.of("*/cart-4 4.0"), named("fibry.actor.max.failed"));
      assertEquals(List.of("*/cart-4 4.0"), named("fibry.actor.max.restarted"));
      assertEquals(List.of(), named("fibry.actor.max.refused"));
      for (int period = 0; period < 2; period++) {
        scope.clock().advance(Duration.ofMinutes(5));
        named("fibry.actor.max.failed");
      }
      assertEquals(List.of(), named("fibry.actor.max.failed"));
    }
    assertEquals(List.of(), registry.getMeters());
  }

  private List<String> named(String meter) {
    passSecond();
    gauge("fibry.actor.living", "*"); // takes a sample
    return registry.find(meter).gauges().stream()
        .map(gauge -> gauge.getId().getTag("actor") + "/" + gauge.getId().getTag("name") + " " + gauge.value())
        .toList();
  }

  @Test
  void actorWhoseMailboxGrowsAndSuspendedActorAreNamed() {
    try (var scope = TestScope.fibers(); var meters = new ActorMeters(scope, "orders", "*")) {
      var gate = new CountDownLatch(1);
      var entered = new CountDownLatch(1);
      meters.bindTo(registry);
      var slow = scope.named("slow").newActor((String message) -> {
        entered.countDown();
        gate.await();
      });
      scope.named("broken")
          .onFailure(FailurePolicy.restart().withBackoff(Duration.ofHours(1), Duration.ofHours(1)).withoutLog())
          .newActor((String message) -> {
            throw new IllegalStateException("on purpose");
          }).sendMessage("fails");
      try {
        slow.sendMessage("handled");
        Patience.await(entered);
        for (int i = 0; i < 100; i++) slow.sendMessage("waits");

        assertEquals(List.of("*/slow 100.0"), named("fibry.actor.max.grown"));
        assertEquals(List.of("*/slow 100.0"), named("fibry.actor.max.queued"));
        Patience.eventually(() -> named("fibry.actor.max.suspended").equals(List.of("*/broken 1.0")));
      } finally {
        gate.countDown();
        scope.advance(Duration.ofHours(1));
      }
    }
  }

  /** A gauge that is read before all other meters shows the same sample as they do. */
  @Test
  void gaugeThatNamesActorTakesSample() {
    try (var scope = TestScope.fibers(); var meters = new ActorMeters(scope, "*")) {
      meters.bindTo(registry);
      var actor = scope.named("broken").onFailure(FailurePolicy.resume().withoutLog()).newActor((String message) -> {
        throw new IllegalStateException("on purpose");
      });
      actor.sendMessage("fails");
      scope.assertQuiet();
      assertEquals(List.of("*/broken 1.0"), named("fibry.actor.max.failed"));
      actor.sendMessage("fails");
      scope.assertQuiet();
      passSecond();

      assertEquals(2, registry.get("fibry.actor.max.failed").gauge().value());
      assertEquals(2, counter("fibry.actor.failed", "*"));
    }
  }

  @Test
  void metersOfMissingActorShowZero() {
    try (var scope = TestScope.fibers(); var meters = new ActorMeters(scope, "later", "cart-*")) {
      meters.bindTo(registry);

      for (var actor : List.of("later", "cart-*")) {
        for (var name : List.of("handled", "failed", "refused", "dropped", "restarted"))
          assertEquals(0, counter("fibry.actor." + name, actor));
        for (var name : List.of("living", "suspended", "waiting", "oldest.waiting", "busy"))
          assertEquals(0, gauge("fibry.actor." + name, actor));
      }
    }
    assertEquals(List.of(), registry.getMeters());
  }

  @Test
  void metersOfBeginningSumAllActorsAlsoThoseThatEnded() {
    try (var shop = TestScope.fibers()) {
      // @start region="actors"
      var meters = new ActorMeters(shop, "cart-*", "payments");
      meters.bindTo(registry); // fibry.actor.handled with the tag actor=cart-*, ..
      // @end
      for (int i = 0; i < 10; i++) {
        var cart = shop.named("cart-" + i).newActorWithReturn((Integer n) -> n);
        cart.ask(1);
        cart.ask(2);
        if (i < 7) cart.close();
      }
      shop.named("payments").newActorWithReturn((Integer n) -> n).ask(1);
      shop.assertQuiet();

      Patience.eventually(() -> {
        passSecond();
        return gauge("fibry.actor.living", "cart-*") == 3;
      });
      assertEquals(20, counter("fibry.actor.handled", "cart-*"));
      assertEquals(1, counter("fibry.actor.handled", "payments"));
      assertEquals(20, registry.getMeters().size());
    }
  }

  @Test
  void sampleIsKeptForSecondOfRegistryClock() {
    try (var scope = TestScope.fibers()) {
      var actor = scope.named("orders").newActorWithReturn((Integer n) -> n);
      new ActorMeters(scope, "orders").bindTo(registry);
      assertEquals(0, counter("fibry.actor.handled", "orders"));
      actor.ask(1);
      scope.assertQuiet();

      clock.add(Duration.ofMillis(800));
      assertEquals(0, counter("fibry.actor.handled", "orders"));
      clock.add(Duration.ofMillis(200));
      assertEquals(1, counter("fibry.actor.handled", "orders"));
    }
  }

  /** Two scrapers may read in turns, so that a sample becomes old while one of them reads. */
  @Test
  void scrapeThatIsInProgressKeepsItsSample() {
    try (var scope = TestScope.fibers()) {
      var actor = scope.named("orders").newActorWithReturn((Integer n) -> n);
      new ActorMeters(scope, "orders").bindTo(registry);
      assertEquals(0, counter("fibry.actor.handled", "orders"));
      actor.ask(1);
      scope.assertQuiet();

      clock.add(Duration.ofMillis(950));
      assertEquals(0, counter("fibry.actor.handled", "orders")); // the scrape begins
      for (int i = 0; i < 100; i++) { // 9 s: the scrape is slow
        clock.add(Duration.ofMillis(90));
        assertEquals(0, counter("fibry.actor.handled", "orders"), "read " + i);
      }
      clock.add(Duration.ofMillis(90));
      assertEquals(1, counter("fibry.actor.handled", "orders"));
    }
  }

  @Test
  void countersKeepValueAfterEndOfActor() {
    try (var scope = TestScope.fibers()) {
      var actor = scope.named("orders").newActorWithReturn((Integer n) -> n);
      actor.ask(1);
      scope.assertQuiet();
      new ActorMeters(scope, List.of("orders"), Tags.of("floor", "two")).bindTo(registry);
      assertEquals(1, registry.get("fibry.actor.handled").tag("floor", "two").functionCounter().count());

      actor.close();
      Patience.eventually(() -> {
        passSecond();
        return gauge("fibry.actor.living", "orders") == 0;
      });

      assertEquals(1, counter("fibry.actor.handled", "orders"));
    }
  }

  @Test
  void uselessNamesAreRefused() {
    try (var scope = TestScope.fibers()) {
      var noName = assertThrows(IllegalArgumentException.class, () -> new ActorMeters(scope));
      var twice = assertThrows(IllegalArgumentException.class, () -> new ActorMeters(scope, "cart-*", "cart-*"));

      assertEquals("no name of an actor is given; give at least one name", noName.getMessage());
      assertEquals("\"cart-*\" is given twice; give each name once", twice.getMessage());
      assertEquals("meters of [b, a] in scope 'test'", new ActorMeters(scope, "b", "a").toString());
    }
  }
}
