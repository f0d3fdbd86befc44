package io.fibry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.micrometer.ActorMeters;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.spring.monitoring.FibryMetricsAutoConfiguration;
import io.fibry.support.Patience;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Tests that meters are registered; {@code fibry-micrometer} tests the meters themselves. */
class MetricsTest {
  private final ApplicationContextRunner base = new ApplicationContextRunner()
      .withConfiguration(AutoConfigurations.of(FibryAutoConfiguration.class, FibryTasksAutoConfiguration.class,
          FibryStoreAutoConfiguration.class, FibryMetricsAutoConfiguration.class, Boot.metrics()));
  private final ApplicationContextRunner runner = base.withBean(SimpleMeterRegistry.class, SimpleMeterRegistry::new);

  private static double count(MeterRegistry registry, String scope, String outcome) {
    return registry.get("fibry.messages").tags("scope", scope, "outcome", outcome).functionCounter().count();
  }

  @Test
  void messagesAreCountedAndTimed() {
    runner.run(context -> {
      var scope = context.getBean(ActorScope.class);
      scope.anonymous().newActorWithReturn((Integer n) -> n).ask(1);
      assertTrue(scope.awaitQuiescence(Patience.LONG));

      var registry = context.getBean(MeterRegistry.class);

      assertEquals(1, count(registry, "application", "handled"));
      assertEquals(0, registry.get("fibry.messages.waiting").tag("scope", "application").gauge().value());
      assertEquals(1, registry.get("fibry.wait").tag("scope", "application").timer().count());
      assertEquals(1, registry.get("fibry.handling").tag("scope", "application").timer().count());
    });
  }

  @Test
  void propertyDisablesTimers() {
    runner.withPropertyValues("fibry.metrics.timers=false").run(context -> {
      assertNull(context.getBean(MeterRegistry.class).find("fibry.handling").timer());
      assertNull(context.getBean(MeterRegistry.class).find("fibry.wait").timer());
    });
  }

  @Test
  void chosenActorsHaveMetersOfTheirOwn() {
    runner.withPropertyValues("fibry.metrics.actors=cart-*,payments").run(context -> {
      var scope = context.getBean(ActorScope.class);
      for (var name : List.of("cart-1", "cart-2", "stock"))
        scope.named(name).newActor((Integer n) -> {}).sendMessage(1);
      assertTrue(scope.awaitQuiescence(Patience.LONG));

      var registry = context.getBean(MeterRegistry.class);

      assertEquals(2, registry.get("fibry.actor.handled").tag("actor", "cart-*").functionCounter().count());
      assertEquals(0, registry.get("fibry.actor.living").tag("actor", "payments").gauge().value());
      assertEquals(2, registry.get("fibry.handling").tag("actor", "cart-*").timer().count());
      assertEquals(1, registry.get("fibry.handling").tag("actor", "other").timer().count());
    });
  }

  /** The alerts on actors read these meters, so a starter without them would make no alert. */
  @Test
  void allActorsHaveMetersByDefault() {
    runner.run(context -> {
      countOneMessage(context.getBean(ActorScope.class), "stock");

      var registry = context.getBean(MeterRegistry.class);
      assertEquals(1, registry.get("fibry.actor.handled").tag("actor", "*").functionCounter().count());
      assertEquals(0, registry.get("fibry.handling").timer().getId().getTags().stream()
          .filter(tag -> tag.getKey().equals("actor")).count());
    });
  }

  @Test
  void actorsWithoutNameInPropertyHaveCommonMeters() {
    for (var names : List.of("cart-*,payments", "cart-*,payments,*"))
      runner.withPropertyValues("fibry.metrics.actors=" + names).run(context -> {
        countOneMessage(context.getBean(ActorScope.class), "stock");

        var registry = context.getBean(MeterRegistry.class);
        assertEquals(1, registry.get("fibry.actor.handled").tag("actor", "*").functionCounter().count());
      });
  }

  @Test
  void propertyDisablesMetersOfActors() {
    runner.withPropertyValues("fibry.metrics.actor-meters=false")
        .run(context -> assertNull(context.getBean(MeterRegistry.class).find("fibry.actor.handled").meter()));
  }

  /** Two sums with the same tags would be one meter, with the actors of only one of them. */
  @Test
  void ownMetersOfActorsReplaceThoseOfStarter() {
    runner.withUserConfiguration(OwnMeters.class).run(context -> {
      var meters = context.getBean(MeterRegistry.class).get("fibry.actor.handled").meters();

      assertEquals(List.of("stock"), meters.stream().map(meter -> meter.getId().getTag("actor")).toList());
    });
  }

  @Configuration(proxyBeanMethods = false)
  static class OwnMeters {
    @Bean
    ActorMeters meters(ActorScope scope) {
      return new ActorMeters(scope, "stock");
    }
  }

  private static void countOneMessage(ActorScope scope, String actor) {
    scope.named(actor).newActor((Integer n) -> {}).sendMessage(1);
    assertTrue(scope.awaitQuiescence(Patience.LONG));
  }

  @Test
  void contextWithUselessNameOfActorDoesNotStart() {
    runner.withPropertyValues("fibry.metrics.actors=cart-*,cart-7").run(context -> {
      Throwable cause = context.getStartupFailure();
      while (cause.getCause() != null) cause = cause.getCause();

      assertTrue(cause.getMessage().startsWith("\"cart-7\" can match no actor"), cause::getMessage);
    });
  }

  @Test
  void metersOfPoolScopeAndApplicationScopeAreSeparate() {
    runner.withPropertyValues("fibry.executor.tasks.enabled=true").run(context -> {
      var pool = context.getBean(FiberPool.class);
      pool.sink().execAndWait(nothing -> {});
      assertTrue(pool.scope().awaitQuiescence(Patience.LONG));

      var registry = context.getBean(MeterRegistry.class);

      assertEquals(1, count(registry, "tasks", "handled"));
      assertEquals(1, registry.get("fibry.wait").tag("scope", "tasks").timer().count());
      assertEquals(0, registry.get("fibry.wait").tag("scope", "application").timer().count());
      assertEquals(0, count(registry, "application", "handled"));
    });
  }

  @Test
  void storeMetersAreTaggedWithBeanName(@TempDir Path folder) {
    runner.withPropertyValues("fibry.store.folder=" + folder).run(context -> assertNotNull(
        context.getBean(MeterRegistry.class).get("fibry.store.turns").tag("store", "folderStore").functionCounter()));
    runner.run(context -> assertNull(context.getBean(MeterRegistry.class).find("fibry.store.turns").meter()));
  }

  @Test
  void serverMetersAreTaggedWithBeanName() {
    runner.withBean("front", HttpServer.class,
        () -> HttpServer.open(ActorSystem.anonymous(), 0, HttpRoutes.none().text("/hello", exchange -> "hello"),
            o -> o))
        .run(context -> assertNotNull(context.getBean(MeterRegistry.class).get("fibry.http.responses")
            .tags("server", "front", "method", "any", "uri", "/hello", "outcome", "SUCCESS").functionCounter()));
    runner.run(context -> assertNull(context.getBean(MeterRegistry.class).find("fibry.http.responses").meter()));
  }

  /** Java 21 has no bean of its scheduler. */
  @Test
  void virtualThreadSchedulerIsMeteredSinceJava24() {
    runner.run(context -> assertEquals(Runtime.version().feature() >= 24,
        context.getBean(MeterRegistry.class).find("fibry.scheduler.queued").meter() != null));
  }

  @Test
  void noMetersExistWithoutRegistry() {
    base.run(context -> assertFalse(context.containsBean("fibryScopeMetrics")));
  }

  @Test
  void contextStartsWithoutMicrometer() {
    base.withClassLoader(new FilteredClassLoader("io.micrometer"))
        .run(context -> assertNull(context.getStartupFailure()));
  }
}
