package io.fibry.spring;

import java.util.Arrays;
import java.util.stream.Stream;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.util.ClassUtils;

/** Finds classes and methods that differ between the versions of Spring Boot. */
final class Boot {
  private static final String METRICS = "metrics.autoconfigure.MetricsAutoConfiguration";

  private Boot() {}

  /** Returns Spring Boot's auto-configuration of meters. */
  static Class<?> metrics() {
    return Stream
        .of("org.springframework.boot.actuate.autoconfigure.metrics.MetricsAutoConfiguration",
            "org.springframework.boot.micrometer." + METRICS)
        .filter(name -> ClassUtils.isPresent(name, null)).map(name -> ClassUtils.resolveClassName(name, null))
        .findFirst().orElseThrow();
  }

  static boolean pausesContexts() {
    return Arrays.stream(ConfigurableApplicationContext.class.getMethods())
        .anyMatch(method -> method.getName().equals("pause"));
  }
}
