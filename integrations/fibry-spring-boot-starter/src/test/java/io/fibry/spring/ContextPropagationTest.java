package io.fibry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.fibry.ActorScope;
import io.fibry.ContextPropagator;
import io.micrometer.context.ContextSnapshotFactory;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Messages carry the observation in which they were sent, if the library is on the class path. */
class ContextPropagationTest {
  private final ApplicationContextRunner runner = new ApplicationContextRunner()
      .withConfiguration(AutoConfigurations.of(FibryAutoConfiguration.class, FibryContextAutoConfiguration.class));
  private final ObservationRegistry registry = registry();

  /** With a handler, since without one a registry observes nothing. */
  private static ObservationRegistry registry() {
    var registry = ObservationRegistry.create();
    ObservationHandler<Observation.Context> all = context -> true;
    registry.observationConfig().observationHandler(all);
    return registry;
  }

  private Optional<Observation> current() {
    return Optional.ofNullable(registry.getCurrentObservation());
  }

  @Test
  void observationCrossesAMessage() {
    runner.run(context -> {
      var actor = context.getBean(ActorScope.class).anonymous().newActorWithReturn((String message) -> current());
      var observation = Observation.createNotStarted("request", registry).start();

      try (var open = observation.openScope()) {
        assertNotNull(open);
        assertSame(observation, actor.ask("what is observed?").orElseThrow());
      }

      assertEquals(Optional.empty(), actor.ask("and now?"));
    });
  }

  @Test
  void propertyDisablesPropagation() {
    runner.withPropertyValues("fibry.propagate-context=false").run(context -> {
      var actor = context.getBean(ActorScope.class).anonymous().newActorWithReturn((String message) -> current());

      Observation.createNotStarted("request", registry).start()
          .scoped(() -> assertEquals(Optional.empty(), actor.ask("what is observed?")));
    });
  }

  @Test
  void messagesCarryNoContextWithoutLibrary() {
    runner.withClassLoader(new FilteredClassLoader(ContextSnapshotFactory.class)).run(context -> {
      assertNull(context.getStartupFailure());
      assertEquals(0, context.getBeanNamesForType(ContextPropagator.class).length);
    });
  }
}
