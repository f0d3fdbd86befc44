package io.fibry.spring;

import io.fibry.ActorWithReturn;
import io.fibry.Handler;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.task.AsyncTaskExecutor;

/** Starts a context with all auto-configurations; returns those that the class path enabled. */
public class Application implements Supplier<String> {

  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration({FibryActuatorAutoConfiguration.class, FibryAutoConfiguration.class,
    FibryContextAutoConfiguration.class, FibryMetricsAutoConfiguration.class, FibryTasksAutoConfiguration.class,
    FibryTomcatAutoConfiguration.class,
    FibryWebAutoConfiguration.class, TaskExecutionAutoConfiguration.class})
  static class Beans {
    @Bean
    @ActorHandler
    Handler.Returning<String, Integer> length() {
      return String::length;
    }
  }

  record Client(ActorWithReturn<String, Integer> length) {}

  @Override
  public String get() {
    try (var context = new AnnotationConfigApplicationContext()) {
      context.getEnvironment().getPropertySources()
          .addFirst(new MapPropertySource("ours", Map.of("fibry.executor.tasks.enabled", true,
              "fibry.executor.tomcat.enabled", true, "management.endpoints.web.exposure.include", "*")));
      context.register(Beans.class, Client.class);
      context.refresh();
      var present = new TreeSet<String>();
      if (context.getBean(Client.class).length().ask("hat") == 3) present.add("actors");
      if (context.getBean("applicationTaskExecutor", AsyncTaskExecutor.class)
          .submit(() -> Thread.currentThread().isVirtual()).get())
        present.add("tasks");
      if (context.containsBean("fibryContextCarrier")) present.add("carriers");
      if (context.containsBean("fibryHealthIndicator")) present.add("health");
      if (context.containsBean("fibryActorsEndpoint")) present.add("endpoint");
      return String.join(" ", present);
    } catch (Exception failure) {
      throw new IllegalStateException(failure);
    }
  }
}
