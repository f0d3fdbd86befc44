package io.fibry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.catalina.startup.Tomcat;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.SmartLifecycle;
import org.springframework.web.servlet.DispatcherServlet;

/** Which web beans exist when. The test of the sample shows what they do. */
class WebTest {
  private static final AutoConfigurations ALL = AutoConfigurations.of(FibryAutoConfiguration.class,
      FibryWebAutoConfiguration.class, FibryTomcatAutoConfiguration.class);
  private final WebApplicationContextRunner runner = new WebApplicationContextRunner().withConfiguration(ALL);

  @Test
  void refusalsAreAnsweredByDefault() {
    runner.run(context -> assertEquals(1, context.getBeanNamesForType(ActorExceptionAdvice.class).length));
  }

  @Test
  void propertyDisablesAnswersToRefusals() {
    runner.withPropertyValues("fibry.web.refusals=false")
        .run(context -> assertEquals(0, context.getBeanNamesForType(ActorExceptionAdvice.class).length));
  }

  @Test
  void noRefusalAdviceExistsWithoutWeb() {
    new ApplicationContextRunner().withConfiguration(ALL)
        .run(context -> assertEquals(0, context.getBeanNamesForType(ActorExceptionAdvice.class).length));
    runner.withClassLoader(new FilteredClassLoader(DispatcherServlet.class))
        .run(context -> assertEquals(0, context.getBeanNamesForType(ActorExceptionAdvice.class).length));
  }

  @Test
  void retryAfterIsInWholeSeconds() {
    assertEquals("2",
        new ActorExceptionAdvice(Duration.ofMillis(1500)).serviceUnavailable().getHeaders().getFirst("Retry-After"));
    assertEquals("1",
        new ActorExceptionAdvice(Duration.ZERO).serviceUnavailable().getHeaders().getFirst("Retry-After"));
  }

  @Test
  void tomcatKeepsItsThreadsByDefault() {
    runner.run(context -> assertEquals(0, context.getBeanNamesForType(FiberPool.class).length));
  }

  @Test
  void propertyGivesTomcatAPool() {
    runner.withPropertyValues("fibry.executor.tomcat.enabled=true", "fibry.executor.tomcat.concurrency=1",
        "fibry.executor.tomcat.max-queued=1").run(context -> {
          var gate = new Gate();
          var sink = context.getBean(FiberPool.class).sink();
          sink.execAsync(nothing -> gate.pass());
          gate.awaitEntered();

          assertTrue(context.containsBean("fibryTomcatCustomizer"));
          assertTrue(sink.execAsync(nothing -> {}));
          assertThrows(RejectedExecutionException.class, () -> sink.execute(() -> {}));
          gate.open();
        });
  }

  /** Tomcat cuts its connections then, and may have answers that have not left. */
  @Test
  void tomcatsPoolIsDoneBeforeTheServerStops() {
    var before = new BeforeTheServerStops(new AtomicReference<>(), new AtomicBoolean());

    runner.withPropertyValues("fibry.executor.tomcat.enabled=true")
        .withBean(BeforeTheServerStops.class, () -> before)
        .run(context -> before.pool.set(context.getBean(FiberPool.class)));

    assertTrue(before.done.get());
  }

  record BeforeTheServerStops(AtomicReference<FiberPool> pool, AtomicBoolean done) implements SmartLifecycle {
    @Override
    public void start() {}

    @Override
    public void stop() {
      done.set(!pool.get().sink().execAsync(nothing -> {}));
    }

    @Override
    public boolean isRunning() {
      return true;
    }

    @Override
    public int getPhase() {
      return DEFAULT_PHASE - 2047;
    }
  }

  @Test
  void noTomcatPoolExistsWithoutTomcat() {
    runner.withPropertyValues("fibry.executor.tomcat.enabled=true")
        .withClassLoader(new FilteredClassLoader(Tomcat.class))
        .run(context -> assertEquals(0, context.getBeanNamesForType(FiberPool.class).length));
  }
}
