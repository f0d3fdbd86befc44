package io.fibry.spring;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ContextPropagator;
import io.fibry.Exitable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/**
 * Opens the application's scope, registers its actor beans, and closes the scope with the context.
 * A bean of type {@code ActorScope} replaces this scope, and is closed in the same way.
 */
@AutoConfiguration
@ConditionalOnBooleanProperty(name = "fibry.enabled", matchIfMissing = true)
@EnableConfigurationProperties(FibryProperties.class)
public final class FibryAutoConfiguration {
  FibryAutoConfiguration() {}

  @Bean
  static ActorRegistrar fibryActorRegistrar() {
    return new ActorRegistrar();
  }

  @Bean
  static FailedStartCleanup fibryFailedStartCleanup(DefaultListableBeanFactory beans) {
    return new FailedStartCleanup(beans, Exitable.class::isInstance);
  }

  @Bean
  ScopeOptions fibryScopeOptions(FibryProperties properties, ObjectProvider<ContextPropagator<?>> propagators,
      ObjectProvider<MessageTiming> timing) {
    return new ScopeOptions(properties, propagators.orderedStream().toList(), timing.getIfAvailable());
  }

  /** A child context has its own scope, because its parent's scope would outlive it. */
  @Bean
  @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
  ActorScope actorScope(ConfigurableApplicationContext context, FibryProperties properties, ScopeOptions options,
      ObjectProvider<ScopeCustomizer> customizers) {
    String name = properties.name() != null ? properties.name()
        : context.getEnvironment().getProperty("spring.application.name", "application");
    return ActorSystem.openScope(name, scope -> {
      var result = options.of(name).apply(scope);
      for (var customizer : customizers.orderedStream().toList()) result = customizer.customize(result);
      return result;
    });
  }

  @Bean
  ContextShutdown fibryScopeClosing(ConfigurableApplicationContext context, ActorScope scope,
      FibryProperties properties) {
    return ScopeShutdown.of(context, scope, properties.drainLimit(), ContextShutdown.ACTORS);
  }
}
