package io.fibry.spring.monitoring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.FailurePolicy;
import io.fibry.spring.FibryAutoConfiguration;
import io.fibry.spring.FibryTasksAutoConfiguration;
import io.fibry.spring.Gate;
import io.fibry.support.Patience;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Tests what Actuator reports about actors, without HTTP. */
class ActuatorTest {
  private final ApplicationContextRunner runner = new ApplicationContextRunner()
      .withConfiguration(AutoConfigurations.of(FibryAutoConfiguration.class, FibryTasksAutoConfiguration.class,
          FibryActuatorAutoConfiguration.class))
      .withPropertyValues("management.endpoints.web.exposure.include=actors");

  @Test
  void healthOfOpenScopeIsUpAndCountsHandledMessages() {
    runner.run(context -> {
      context.getBean(ActorScope.class).anonymous().newActorWithReturn((Integer n) -> n + 1).ask(1);
      assertTrue(context.getBean(ActorScope.class).awaitQuiescence(Patience.LONG));

      var health = ScopeHealth.of(context.getBean(ActorScope.class));

      assertEquals("UP", health.status());
      assertEquals("application", health.details().get("scope"));
      assertEquals(1L, health.details().get("handled"));
    });
  }

  @Test
  void healthOfScopeClosedByFailureIsDown() {
    runner.run(context -> {
      var actor = context.getBean(ActorScope.class).named("fragile").onFailure(FailurePolicy.escalate().withoutLog())
          .newActor((Integer n) -> {
            throw new IllegalStateException("on purpose");
          });
      var bystander = context.getBean(ActorScope.class).named("bystander").newActor((Integer n) -> {});
      actor.sendMessage(1);
      Patience.awaitEnd(bystander::waitForExit); // afterwards the scope accepts no actors

      var health = ScopeHealth.of(context.getBean(ActorScope.class));

      assertEquals("DOWN", health.status());
      assertEquals("scope 'application' is closed", health.details().get("why"));
    });
  }

  @Test
  void propertyDisablesHealthIndicator() {
    runner.withPropertyValues("management.health.fibry.enabled=false")
        .run(context -> assertFalse(context.containsBean("fibryHealthIndicator")));
    runner.run(context -> assertTrue(context.containsBean("fibryHealthIndicator")));
  }

  @Test
  void endpointReportsStatisticsOfAllScopes() {
    runner.withPropertyValues("fibry.executor.tasks.enabled=true").run(context -> {
      var scope = context.getBean(ActorScope.class);
      var actor = scope.named("fragile").onFailure(FailurePolicy.resume().withoutLog()).newActor((Integer n) -> {
        throw new IllegalStateException("on purpose");
      });
      actor.sendMessage(1);
      assertTrue(scope.awaitQuiescence(Patience.LONG));

      var scopes = context.getBean(ActorsEndpoint.class).report().scopes();

      assertEquals(2, scopes.size());
      assertEquals("tasks", scopes.getLast().scope());
      assertEquals(1, scopes.getFirst().sent());
      assertEquals(1L, scopes.getFirst().unhandled().get("failed"));
      assertEquals(new ActorsEndpoint.DeadLetterView("fragile", "java.lang.Integer", "failed",
          "java.lang.IllegalStateException: on purpose"), scopes.getFirst().deadLetters().getFirst());
    });
  }

  @Test
  void endpointReturnsDumpAsText() {
    runner.run(context -> {
      var gate = new Gate();
      context.getBean(ActorScope.class).named("busy").newActor((String message) -> gate.pass()).sendMessage("work");
      gate.awaitEntered();

      var text = context.getBean(ActorsEndpoint.class).dump();

      gate.open();
      assertTrue(text.startsWith("scope 'application'") && text.contains("busy") && text.contains("handling \"work\""),
          text);
    });
  }

  @Test
  void endpointReportsWhileActorsStartAndEnd() {
    runner.run(context -> {
      var scope = context.getBean(ActorScope.class);
      var endpoint = context.getBean(ActorsEndpoint.class);
      var actors = CompletableFuture.runAsync(() -> {
        for (int i = 0; i < 500; i++) {
          try (var actor = scope.named("actor").newActorWithReturn((Integer n) -> n + 1)) {
            actor.ask(i);
          }
        }
      }, Patience::startFiber);

      long previous = 0;
      while (!actors.isDone()) {
        long handled = endpoint.report().scopes().getFirst().handled();
        assertTrue(handled >= previous, () -> "the number of handled messages has decreased to " + handled);
        assertTrue(endpoint.dump().startsWith("scope 'application'"));
        previous = handled;
      }

      Patience.value(actors);
      assertTrue(scope.awaitQuiescence(Patience.LONG));
      assertEquals(500, endpoint.report().scopes().getFirst().handled());
    });
  }

  @Test
  void unexposedEndpointIsNotCreated() {
    runner.withPropertyValues("management.endpoints.web.exposure.include=health")
        .run(context -> assertEquals(0, context.getBeanNamesForType(ActorsEndpoint.class).length));
  }
}
