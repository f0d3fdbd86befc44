package io.fibry.spring;

import io.fibry.cluster.UnavailableException;
import io.fibry.durable.RequestStoredException;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
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

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(RequestStoredException.class)
  static class DurableResponses {
    @Bean
    DurableExceptionAdvice fibryDurableRefusalAdvice(ActorExceptionAdvice responses) {
      return new DurableExceptionAdvice(responses);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(UnavailableException.class)
  static class ClusterResponses {
    @Bean
    ClusterExceptionAdvice fibryClusterRefusalAdvice(ActorExceptionAdvice responses) {
      return new ClusterExceptionAdvice(responses);
    }
  }
}
