package io.fibry.spring;

import io.fibry.ActorWithReturn;
import io.fibry.Handler;
import io.fibry.cluster.ClusterNetwork;
import io.fibry.cluster.MemoryNetwork;
import io.fibry.spring.monitoring.FibryActuatorAutoConfiguration;
import io.fibry.spring.monitoring.FibryContextAutoConfiguration;
import io.fibry.spring.monitoring.FibryMetricsAutoConfiguration;
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
 * Starts a context with all auto-configurations and a folder for a store. Returns the names of the
 * features that the class path enables.
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

  /** Provides a network inside this process, which needs no servers. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(name = "io.fibry.cluster.MemoryNetwork")
  static class NetworkBeans {
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
      context.register(NetworkBeans.class, Beans.class, Client.class);
      context.refresh();
      var features = new TreeSet<String>();
      if (context.getBean(Client.class).length().ask("hat") == 3) features.add("actors");
      if (context.getBean("applicationTaskExecutor", AsyncTaskExecutor.class)
          .submit(() -> Thread.currentThread().isVirtual()).get())
        features.add("tasks");
      if (context.containsBean("fibryContextPropagator")) features.add("carriers");
      if (context.containsBean("fibryHealthIndicator")) features.add("health");
      if (context.containsBean("fibryActorsEndpoint")) features.add("endpoint");
      if (context.containsBean("folderStore")) features.add("store");
      if (context.containsBean("cluster")) features.add("node");
      if (context.containsBean("fibryClusterHealthIndicator")) features.add("health-of-a-node");
      if (context.containsBean("fibryStoreHealthIndicator")) features.add("health-of-stores");
      return String.join(" ", features);
    } catch (Exception failure) {
      throw new IllegalStateException(failure);
    }
  }
}
