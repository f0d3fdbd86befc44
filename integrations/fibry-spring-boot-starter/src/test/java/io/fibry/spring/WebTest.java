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

/** Tests under which conditions the web beans exist. ShopTest of the sample uses the beans. */
class WebTest {
  private static final AutoConfigurations ALL = AutoConfigurations.of(FibryAutoConfiguration.class,
      FibryWebAutoConfiguration.class, FibryTomcatAutoConfiguration.class);
  private final WebApplicationContextRunner runner = new WebApplicationContextRunner().withConfiguration(ALL);

  @Test
  void actorExceptionAdviceExistsByDefault() {
    runner.run(context -> assertEquals(1, context.getBeanNamesForType(ActorExceptionAdvice.class).length));
  }

  @Test
  void propertyDisablesActorExceptionAdvice() {
    runner.withPropertyValues("fibry.web.refusals=false")
        .run(context -> assertEquals(0, context.getBeanNamesForType(ActorExceptionAdvice.class).length));
  }

  @Test
  void noActorExceptionAdviceExistsWithoutWeb() {
    new ApplicationContextRunner().withConfiguration(ALL)
        .run(context -> assertEquals(0, context.getBeanNamesForType(ActorExceptionAdvice.class).length));
    runner.withClassLoader(new FilteredClassLoader(DispatcherServlet.class))
        .run(context -> assertEquals(0, context.getBeanNamesForType(ActorExceptionAdvice.class).length));
  }

  @Test
  void retryAfterIsRoundedUpToWholeSeconds() {
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
  void propertyCreatesPoolForTomcat() {
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

  /** The pool closes first, because a stopping Tomcat cuts connections with unsent responses. */
  @Test
  void tomcatPoolClosesBeforeServerStops() {
    var probe = new ServerStopProbe(new AtomicReference<>(), new AtomicBoolean());

    runner.withPropertyValues("fibry.executor.tomcat.enabled=true")
        .withBean(ServerStopProbe.class, () -> probe)
        .run(context -> probe.pool.set(context.getBean(FiberPool.class)));

    assertTrue(probe.isPoolClosed.get());
  }

  record ServerStopProbe(AtomicReference<FiberPool> pool, AtomicBoolean isPoolClosed) implements SmartLifecycle {
    @Override
    public void start() {}

    @Override
    public void stop() {
      isPoolClosed.set(!pool.get().sink().execAsync(nothing -> {}));
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
