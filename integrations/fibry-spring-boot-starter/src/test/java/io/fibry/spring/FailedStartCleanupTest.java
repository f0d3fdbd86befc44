package io.fibry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.support.Patience;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.DependsOn;

/** A failed start leaves no actors behind, and does not wait for ever. */
class FailedStartCleanupTest {
  private static final AtomicReference<ActorScope> SCOPE = new AtomicReference<>();
  private static final AtomicReference<Gate> GATE = new AtomicReference<>();

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(FibryAutoConfiguration.class))
          // on a busy machine an interrupted handler may take some time to end
          .withPropertyValues("fibry.drain-limit=100ms", "fibry.kill-grace=" + Patience.LONG);

  /** An actor whose handler ends only when it is interrupted, at work when the start fails. */
  @Configuration(proxyBeanMethods = false)
  static class Busy {
    @Bean
    Actor<String> busy(ActorScope scope) throws InterruptedException {
      var gate = new Gate();
      GATE.set(gate);
      SCOPE.set(scope);
      var busy = scope.named("busy").newActor((String message) -> gate.pass());
      busy.sendMessage("work");
      gate.awaitEntered();
      busy.sendMessage("waits");
      return busy;
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Broken {
    @Bean
    @DependsOn("busy")
    String broken() {
      throw new IllegalStateException("on purpose");
    }
  }

  /** Like a web server whose port is taken: it fails after all beans were made. */
  @Configuration(proxyBeanMethods = false)
  static class BrokenServer implements SmartLifecycle {
    @Override
    public void start() {
      throw new IllegalStateException("on purpose");
    }

    @Override
    public void stop() {}

    @Override
    public boolean isRunning() {
      return false;
    }
  }

  @Test
  void aBeanThatCannotBeMadeEndsTheActors() {
    assertGone(Broken.class);
  }

  @Test
  void aBeanThatCannotBeStartedEndsTheActors() {
    assertGone(BrokenServer.class);
  }

  private void assertGone(Class<?> broken) {
    runner.withUserConfiguration(Busy.class, broken).run(context -> assertNotNull(context.getStartupFailure()));

    var report = SCOPE.get().report();
    assertEquals(0, report.queued());
    assertEquals(2, report.sent());
    assertEquals(List.of(), report.unresponsive());
    assertThrows(IllegalStateException.class, () -> SCOPE.get().openScope("late"));
  }
}
