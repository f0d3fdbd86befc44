package io.fibry.spring;

import org.apache.catalina.startup.Tomcat;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/** Makes a pool of fibers, if enabled, which runs the requests of Tomcat. */
@AutoConfiguration(after = FibryAutoConfiguration.class)
@ConditionalOnWebApplication
@ConditionalOnClass(Tomcat.class)
@ConditionalOnBean(ScopeOptions.class)
@ConditionalOnBooleanProperty("fibry.executor.tomcat.enabled")
@Import({Boot3Tomcat.class, Boot4Tomcat.class})
public final class FibryTomcatAutoConfiguration {
  FibryTomcatAutoConfiguration() {}

  /** Omits context propagators, because Tomcat's threads have no context to propagate. */
  @Bean
  FiberPool fibryTomcatPool(ScopeOptions options) {
    var size = options.properties().executor().tomcat();
    return FiberPool.open("tomcat", size.concurrency(), size.maxQueued(), options.withoutPropagators("tomcat"));
  }

  @Bean
  ContextShutdown fibryTomcatPoolClosing(ConfigurableApplicationContext context, FiberPool fibryTomcatPool,
      FibryProperties properties) {
    return ScopeShutdown.of(context, fibryTomcatPool.scope(), properties.drainLimit(),
        ContextShutdown.SERVER_EXECUTORS);
  }
}
