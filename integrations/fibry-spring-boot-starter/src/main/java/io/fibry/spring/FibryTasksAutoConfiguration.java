package io.fibry.spring;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.task.SimpleAsyncTaskExecutorBuilder;
import org.springframework.boot.task.ThreadPoolTaskExecutorBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.support.TaskExecutorAdapter;

/**
 * Makes the executor of {@code @Async} methods: a pool of fibers if enabled, otherwise the
 * executor that Spring Boot would make without actors.
 */
@AutoConfiguration(after = FibryAutoConfiguration.class, before = TaskExecutionAutoConfiguration.class)
public final class FibryTasksAutoConfiguration {
  private static final String APPLICATION_EXECUTOR = TaskExecutionAutoConfiguration.APPLICATION_TASK_EXECUTOR_BEAN_NAME;
  // the name that @EnableAsync prefers
  private static final String ASYNC_EXECUTOR = "taskExecutor";

  FibryTasksAutoConfiguration() {}

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnBean(ScopeOptions.class)
  @ConditionalOnBooleanProperty("fibry.executor.tasks.enabled")
  @ConditionalOnMissingBean(name = APPLICATION_EXECUTOR)
  static class FiberPoolExecutor {

    @Bean
    FiberPool fibryTaskPool(ScopeOptions options) {
      var size = options.properties().executor().tasks();
      return FiberPool.open("tasks", size.concurrency(), size.maxQueued(), options.of("tasks"));
    }

    @Bean
    ContextShutdown fibryTaskPoolClosing(ConfigurableApplicationContext context, FiberPool fibryTaskPool,
        FibryProperties properties) {
      return ScopeShutdown.of(context, fibryTaskPool.scope(), properties.drainLimit(), ContextShutdown.EXECUTORS);
    }

    @Bean({APPLICATION_EXECUTOR, ASYNC_EXECUTOR})
    AsyncTaskExecutor fibryTaskExecutor(FiberPool fibryTaskPool, ObjectProvider<TaskDecorator> decorator) {
      var executor = new TaskExecutorAdapter(fibryTaskPool.sink());
      decorator.ifUnique(executor::setTaskDecorator);
      return executor;
    }
  }

  /**
   * Makes the executor that Spring Boot would make without actors. Spring Boot makes no executor if
   * it finds an executor bean, and an actor is such a bean.
   */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnBooleanProperty(name = "fibry.executor.tasks.enabled", havingValue = false, matchIfMissing = true)
  @ConditionalOnMissingBean(name = {APPLICATION_EXECUTOR, ASYNC_EXECUTOR})
  @Conditional(OnlyActorExecutorsCondition.class)
  static class SpringBootExecutor {

    @Bean({APPLICATION_EXECUTOR, ASYNC_EXECUTOR})
    AsyncTaskExecutor defaultTaskExecutor(Environment environment,
        ObjectProvider<SimpleAsyncTaskExecutorBuilder> simple,
        ObjectProvider<ThreadPoolTaskExecutorBuilder> pool) {
      return environment.getProperty("spring.threads.virtual.enabled", Boolean.class, false)
          ? simple.getIfAvailable(SimpleAsyncTaskExecutorBuilder::new).build()
          : pool.getIfAvailable(ThreadPoolTaskExecutorBuilder::new).build();
    }
  }
}
