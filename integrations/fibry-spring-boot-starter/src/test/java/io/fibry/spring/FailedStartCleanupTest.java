package io.fibry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.support.Patience;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.DependsOn;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.context.support.GenericApplicationContext;

/** Tests that a failed start ends all actors, and does not wait for them without limit. */
class FailedStartCleanupTest {
  private static final AtomicReference<ActorScope> SCOPE = new AtomicReference<>();
  private static final AtomicReference<Gate> GATE = new AtomicReference<>();

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(FibryAutoConfiguration.class))
          // on a busy machine an interrupted handler may take some time to end
          .withPropertyValues("fibry.drain-limit=100ms", "fibry.kill-grace=" + Patience.LONG);

  /** Creates an actor that is busy when the start fails. Its handler ends only by an interrupt. */
  @Configuration(proxyBeanMethods = false)
  static class BusyActor {
    @Bean
    Actor<String> busy(ActorScope scope) throws InterruptedException {
      var gate = new Gate();
      GATE.set(gate);
      SCOPE.set(scope);
      var actor = scope.named("busy").newActor((String message) -> gate.pass());
      actor.sendMessage("work");
      gate.awaitEntered();
      actor.sendMessage("waits");
      return actor;
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class IdleActor {
    @Bean
    Actor<String> idle(ActorScope scope) {
      return scope.named("idle").newActor((String message) -> {});
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class BrokenBean {
    @Bean
    @DependsOn("busy")
    String broken() {
      throw new IllegalStateException("on purpose");
    }
  }

  /** Fails after all beans were created, as a web server does whose port is in use. */
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

  /** Fails after all beans were started. */
  @Configuration(proxyBeanMethods = false)
  static class BrokenListener {
    @EventListener
    void onRefreshed(ContextRefreshedEvent event) {
      throw new IllegalStateException("on purpose");
    }
  }

  @Test
  void failedBeanCreationEndsActors() {
    assertActorsEndDespite(BrokenBean.class);
  }

  @Test
  void failedBeanStartEndsActors() {
    assertActorsEndDespite(BrokenServer.class);
  }

  @Test
  void removalOfActorBeanDoesNotCloseScope() {
    runner.withUserConfiguration(IdleActor.class).run(context -> {
      var beans = (DefaultListableBeanFactory) context.getSourceApplicationContext(GenericApplicationContext.class)
          .getBeanFactory();
      beans.destroySingleton("idle");

      assertFalse(context.getBean(ActorScope.class).isClosed());
    });
  }

  @Test
  void failedListenerOfStartedContextEndsActors() {
    assertActorsEndDespite(BrokenListener.class);
  }

  private void assertActorsEndDespite(Class<?> broken) {
    runner.withUserConfiguration(BusyActor.class, broken).run(context -> assertNotNull(context.getStartupFailure()));

    var report = SCOPE.get().report();
    assertEquals(0, report.queued());
    assertEquals(2, report.sent());
    assertEquals(List.of(), report.unresponsive());
    assertThrows(IllegalStateException.class, () -> SCOPE.get().openScope("late"));
  }
}
