package io.fibry.spring;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.web.servlet.DispatcherServlet;

/** Registers the HTTP responses for requests that an actor refuses or does not answer in time. */
@AutoConfiguration(after = FibryAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass(DispatcherServlet.class)
@ConditionalOnBean(ScopeOptions.class)
@ConditionalOnBooleanProperty(name = "fibry.web.refusals", matchIfMissing = true)
public final class FibryWebAutoConfiguration {
  FibryWebAutoConfiguration() {}

  @Bean
  ActorExceptionAdvice fibryRefusalAdvice(FibryProperties properties) {
    return new ActorExceptionAdvice(properties.web().retryAfter());
  }
}
