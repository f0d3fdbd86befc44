package io.fibry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.FailurePolicy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.time.ManualClock;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The meters of actors. */
@Timeout(60)
class MetricsTest {
  private final ApplicationContextRunner bare = new ApplicationContextRunner()
      .withConfiguration(AutoConfigurations.of(FibryAutoConfiguration.class, FibryTasksAutoConfiguration.class,
          FibryMetricsAutoConfiguration.class, MetricsAutoConfiguration.class));
  private final ApplicationContextRunner runner = bare.withBean(SimpleMeterRegistry.class, SimpleMeterRegistry::new);

  private static double count(MeterRegistry registry, String scope, String outcome) {
    return registry.get("fibry.messages").tags("scope", scope, "outcome", outcome).functionCounter().count();
  }

  @Test
  void messagesAreCountedByTheirOutcome() {
    runner.run(context -> {
      var scope = context.getBean(ActorScope.class);
      var gate = new Gate();
      var actor = scope.anonymous().onFailure(FailurePolicy.goOn().withoutLog())
          .mailbox(Mailbox.bounded(2, Overflow.REJECT)).newActor((String message) -> {
            if (message.equals("gate")) gate.pass();
            if (message.equals("fails")) throw new IllegalStateException("on purpose");
          });
      actor.sendMessage("gate");
      gate.awaitEntered();
      for (var message : new String[] {"fails", "handled", "rejected"}) actor.sendMessage(message);
      gate.open();
      assertTrue(scope.awaitQuiet(Duration.ofSeconds(20)));

      var registry = context.getBean(MeterRegistry.class);

      assertEquals(2, count(registry, "application", "handled"));
      assertEquals(1, count(registry, "application", "failed"));
      assertEquals(1, count(registry, "application", "rejected"));
      assertEquals(0, count(registry, "application", "dropped"));
      assertEquals(0, registry.get("fibry.messages.waiting").tag("scope", "application").gauge().value());
    });
  }

  @Test
  void waitingMessagesAreShown() {
    runner.run(context -> {
      var gate = new Gate();
      var actor = context.getBean(ActorScope.class).anonymous().newActor((Integer n) -> gate.pass());
      for (int i = 0; i < 4; i++) actor.sendMessage(i);
      gate.awaitEntered();

      assertEquals(3, context.getBean(MeterRegistry.class).get("fibry.messages.waiting").gauge().value());
      gate.open();
    });
  }

  @Test
  void handlingThatFailsIsTimedToo() {
    runner.run(context -> {
      var scope = context.getBean(ActorScope.class);
      var actor = scope.anonymous().onFailure(FailurePolicy.goOn().withoutLog()).newActor((Integer n) -> {
        if (n == 2) throw new IllegalStateException("on purpose");
      });
      for (int i = 0; i < 3; i++) actor.sendMessage(i);
      assertTrue(scope.awaitQuiet(Duration.ofSeconds(20)));

      var timer = context.getBean(MeterRegistry.class).get("fibry.handling").timer();

      assertEquals(3, timer.count());
    });
  }

  @Test
  void waitingIsTimedFromTheSend() {
    runner.run(context -> {
      var scope = context.getBean(ActorScope.class);
      var gate = new Gate();
      var actor = scope.anonymous().newActor((Integer n) -> gate.pass());
      actor.sendMessage(1);
      gate.awaitEntered();
      actor.sendMessage(2);
      long sent = System.nanoTime();
      while (System.nanoTime() - sent < 20_000_000) Thread.onSpinWait();
      gate.open();
      assertTrue(scope.awaitQuiet(Duration.ofSeconds(20)));

      var timer = context.getBean(MeterRegistry.class).get("fibry.wait").tag("scope", "application").timer();

      assertEquals(2, timer.count());
      assertTrue(timer.max(TimeUnit.MILLISECONDS) >= 20, timer::toString);
    });
  }

  @Test
  void aTimerThatRepeatsCountsOneWait() {
    var clock = new ManualClock();
    runner.withBean(ScopeCustomizer.class, () -> options -> options.withScheduler(clock)).run(context -> {
      var actor = context.getBean(ActorScope.class).anonymous().newActorWithReturn((Integer n) -> n);
      var timer = actor.sendMessageEvery(1, Duration.ofSeconds(1));
      for (int i = 0; i < 3; i++) {
        clock.advance(Duration.ofSeconds(1));
        actor.ask(2); // waits until the message before it has been handled
      }
      timer.cancel();
      assertTrue(context.getBean(ActorScope.class).awaitQuiet(Duration.ofSeconds(20)));

      var registry = context.getBean(MeterRegistry.class);

      assertEquals(6, registry.get("fibry.handling").timer().count());
      assertEquals(4, registry.get("fibry.wait").timer().count());
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
  void poolsAreCountedApart() {
    runner.withPropertyValues("fibry.executor.tasks.enabled=true").run(context -> {
      var pool = context.getBean(FiberPool.class);
      pool.sink().execAndWait(nothing -> {});
      assertTrue(pool.scope().awaitQuiet(Duration.ofSeconds(20)));

      var registry = context.getBean(MeterRegistry.class);

      assertEquals(1, count(registry, "tasks", "handled"));
      assertEquals(1, registry.get("fibry.wait").tag("scope", "tasks").timer().count());
      assertEquals(0, registry.get("fibry.wait").tag("scope", "application").timer().count());
      assertEquals(0, count(registry, "application", "handled"));
    });
  }

  @Test
  void withoutARegistryNothingIsMeasured() {
    bare.run(context -> assertEquals(0, context.getBeanNamesForType(ScopeMeters.class).length));
  }

  @Test
  void withoutMicrometerNothingIsMeasured() {
    bare.withClassLoader(new FilteredClassLoader("io.micrometer"))
        .run(context -> assertNull(context.getStartupFailure()));
  }
}
