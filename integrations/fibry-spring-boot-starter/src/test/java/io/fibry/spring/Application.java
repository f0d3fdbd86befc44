package io.fibry.spring;

import io.fibry.ActorWithReturn;
import io.fibry.Handler;
import io.fibry.cluster.ClusterNetwork;
import io.fibry.cluster.MemoryNetwork;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.task.AsyncTaskExecutor;

/**
 * Starts a context with all auto-configurations, and a folder for a store; returns the
 * auto-configurations that the class path enabled.
 */
public class Application implements UnaryOperator<String> {

  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration({FibryActuatorAutoConfiguration.class, FibryAutoConfiguration.class,
    FibryClusterAutoConfiguration.class,
    FibryContextAutoConfiguration.class, FibryMetricsAutoConfiguration.class, FibryStoreAutoConfiguration.class,
    FibryTasksAutoConfiguration.class, FibryTomcatAutoConfiguration.class,
    FibryWebAutoConfiguration.class, TaskExecutionAutoConfiguration.class})
  static class Beans {
    @Bean
    @ActorHandler
    Handler.Returning<String, Integer> length() {
      return String::length;
    }
  }

  /** Without servers. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(name = "io.fibry.cluster.MemoryNetwork")
  static class OneProcess {
    @Bean
    ClusterNetwork network() {
      return MemoryNetwork.create();
    }
  }

  record Client(ActorWithReturn<String, Integer> length) {}

  @Override
  public String apply(String folder) {
    try (var context = new AnnotationConfigApplicationContext()) {
      context.getEnvironment().getPropertySources()
          .addFirst(new MapPropertySource("ours", Map.of("fibry.executor.tasks.enabled", true,
              "fibry.executor.tomcat.enabled", true, "fibry.store.folder", folder,
              "management.endpoints.web.exposure.include", "*")));
      context.register(OneProcess.class, Beans.class, Client.class);
      context.refresh();
      var present = new TreeSet<String>();
      if (context.getBean(Client.class).length().ask("hat") == 3) present.add("actors");
      if (context.getBean("applicationTaskExecutor", AsyncTaskExecutor.class)
          .submit(() -> Thread.currentThread().isVirtual()).get())
        present.add("tasks");
      if (context.containsBean("fibryContextCarrier")) present.add("carriers");
      if (context.containsBean("fibryHealthIndicator")) present.add("health");
      if (context.containsBean("fibryActorsEndpoint")) present.add("endpoint");
      if (context.containsBean("folderStore")) present.add("store");
      if (context.containsBean("cluster")) present.add("node");
      if (context.containsBean("fibryClusterHealthIndicator")) present.add("health-of-a-node");
      if (context.containsBean("fibryStoreHealthIndicator")) present.add("health-of-stores");
      return String.join(" ", present);
    } catch (Exception failure) {
      throw new IllegalStateException(failure);
    }
  }
}
