package io.fibry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.fibry.ActorScope;
import io.fibry.ContextPropagator;
import io.fibry.spring.monitoring.FibryContextAutoConfiguration;
import io.micrometer.context.ContextSnapshotFactory;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/**
 * Tests that messages carry their sender's observation if Micrometer's library for context
 * propagation is on the class path.
 */
class ContextPropagationTest {
  private final ApplicationContextRunner runner = new ApplicationContextRunner()
      .withConfiguration(AutoConfigurations.of(FibryAutoConfiguration.class, FibryContextAutoConfiguration.class));
  private final ObservationRegistry registry = registry();

  /** Returns a registry with a handler, because it observes nothing without a handler. */
  private static ObservationRegistry registry() {
    var registry = ObservationRegistry.create();
    ObservationHandler<Observation.Context> handler = context -> true;
    registry.observationConfig().observationHandler(handler);
    return registry;
  }

  private Optional<Observation> observation() {
    return Optional.ofNullable(registry.getCurrentObservation());
  }

  @Test
  void handlerSeesObservationOfSenderOnlyForItsMessage() {
    runner.run(context -> {
      var actor = context.getBean(ActorScope.class).anonymous().newActorWithReturn((String message) -> observation());
      var expected = Observation.createNotStarted("request", registry).start();

      try (var scope = expected.openScope()) {
        assertNotNull(scope);
        assertSame(expected, actor.ask("what is observed?").orElseThrow());
      }

      assertEquals(Optional.empty(), actor.ask("what is observed afterwards?"));
    });
  }

  @Test
  void propertyDisablesPropagation() {
    runner.withPropertyValues("fibry.propagate-context=false").run(context -> {
      var actor = context.getBean(ActorScope.class).anonymous().newActorWithReturn((String message) -> observation());

      Observation.createNotStarted("request", registry).start()
          .scoped(() -> assertEquals(Optional.empty(), actor.ask("what is observed?")));
    });
  }

  @Test
  void noPropagatorBeanExistsWithoutMicrometerContextLibrary() {
    runner.withClassLoader(new FilteredClassLoader(ContextSnapshotFactory.class)).run(context -> {
      assertNull(context.getStartupFailure());
      assertEquals(0, context.getBeanNamesForType(ContextPropagator.class).length);
    });
  }
}
