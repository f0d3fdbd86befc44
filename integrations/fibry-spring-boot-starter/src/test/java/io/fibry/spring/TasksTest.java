package io.fibry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.support.Patience;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.TaskRejectedException;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/** Tests the executor of {@code @Async} methods. */
class TasksTest {
  private final ApplicationContextRunner runner =
      new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(FibryAutoConfiguration.class,
          FibryTasksAutoConfiguration.class, TaskExecutionAutoConfiguration.class));
  private final ApplicationContextRunner runnerWithPool = runner.withPropertyValues("fibry.executor.tasks.enabled=true",
      "fibry.executor.tasks.concurrency=2", "fibry.executor.tasks.max-queued=3", "fibry.drain-limit=" + Patience.LONG);

  private static AsyncTaskExecutor executor(ApplicationContext context) {
    return context.getBean("applicationTaskExecutor", AsyncTaskExecutor.class);
  }

  @Test
  void tasksBeyondConcurrencyAndQueueAreRefused() {
    runnerWithPool.run(context -> {
      var executor = executor(context);
      var taskStarts = new CountDownLatch(2);
      var gate = new Gate();
      var taskEnds = new CountDownLatch(5);
      for (int i = 0; i < 2; i++) {
        executor.submit(() -> {
          taskStarts.countDown();
          gate.pass();
          taskEnds.countDown();
          return "";
        });
      }
      Patience.await(taskStarts);
      for (int i = 0; i < 3; i++) executor.execute(taskEnds::countDown);

      assertThrows(TaskRejectedException.class, () -> executor.execute(taskEnds::countDown));

      gate.open();
      Patience.await(taskEnds);
    });
  }

  @Test
  void taskRunsOnFiberBeforePoolCloses() {
    var scope = new AtomicReference<ActorScope>();
    var isFiber = new CompletableFuture<Boolean>();

    runnerWithPool.run(context -> {
      scope.set(context.getBean(FiberPool.class).scope());
      executor(context).execute(() -> isFiber.complete(Thread.currentThread().isVirtual()));
    });

    assertTrue(Patience.value(isFiber));
    assertEquals(1, scope.get().report().handled());
    assertThrows(IllegalStateException.class, () -> scope.get().openScope("late"));
  }

  @Test
  void poolRunsTasksAfterApplicationScopeCloses() {
    runnerWithPool.run(context -> {
      context.getBean(ActorScope.class).close();

      assertEquals("done", Patience.value(executor(context).submit(() -> "done")));
    });
  }

  @Test
  void taskDecoratorBeanWrapsTasks() {
    var decorated = new CompletableFuture<String>();
    runnerWithPool.withBean(TaskDecorator.class, () -> task -> () -> {
      decorated.complete("decorated");
      task.run();
    }).run(context -> assertEquals("done", Patience.value(executor(context).submit(() -> "done"))));

    assertEquals("decorated", Patience.value(decorated));
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAsync
  static class WithAsync {
    @Bean
    Work work() {
      return new Work();
    }
  }

  public static class Work {
    @Async
    public CompletableFuture<String> describeThread() {
      var thread = Thread.currentThread();
      return CompletableFuture.completedFuture(thread.isVirtual() ? "fiber" : thread.getName());
    }
  }

  @Test
  void asyncMethodsRunInPool() {
    runnerWithPool.withUserConfiguration(WithAsync.class).run(context -> {
      assertEquals("fiber", Patience.value(context.getBean(Work.class).describeThread()));
      var pool = context.getBean(FiberPool.class).scope();
      assertTrue(pool.awaitQuiescence(Patience.LONG));
      assertEquals(1, pool.report().sent());
    });
  }

  // ---- without the pool

  @Configuration(proxyBeanMethods = false)
  static class WithActor {
    @Bean
    Actor<String> actor(ActorScope scope) {
      return scope.anonymous().newActor((String message) -> {});
    }
  }

  @Test
  void defaultExecutorRemainsWhenActorBeanExists() {
    runner.withUserConfiguration(WithActor.class)
        .run(context -> assertInstanceOf(ThreadPoolTaskExecutor.class, executor(context)));
  }

  @Test
  void virtualThreadExecutorRemainsWhenActorBeanExists() {
    runner.withUserConfiguration(WithActor.class).withPropertyValues("spring.threads.virtual.enabled=true")
        .run(context -> assertTrue(
            Patience.value(executor(context).submit(() -> Thread.currentThread().isVirtual()))));
  }

  @Test
  void asyncMethodsUseDefaultExecutorDespiteActorBeans() {
    runner.withUserConfiguration(WithActor.class, WithAsync.class)
        .run(context -> assertTrue(Patience.value(context.getBean(Work.class).describeThread()).startsWith("task-")));
  }

  @Test
  void executorBeanOfUserReplacesDefaultExecutor() {
    runner.withUserConfiguration(WithActor.class).withBean("mine", Executor.class, () -> Runnable::run)
        .run(context -> assertFalse(context.containsBean("applicationTaskExecutor")));
  }

  @Test
  void executorsAreUnchangedWithoutActors() {
    runner
        .run(context -> assertFalse(context.containsBean("defaultTaskExecutor") || context.containsBean("taskExecutor")
            || !context.containsBean("applicationTaskExecutor")));
  }

  @Test
  void forcedExecutionModeCreatesOnlySpringBootExecutor() {
    runner.withUserConfiguration(WithActor.class).withPropertyValues("spring.task.execution.mode=force")
        .run(context -> assertFalse(
            context.containsBean("taskExecutor") || !context.containsBean("applicationTaskExecutor")));
  }
}
