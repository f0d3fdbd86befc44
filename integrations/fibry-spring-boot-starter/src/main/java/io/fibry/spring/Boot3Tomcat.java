package io.fibry.spring;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.web.embedded.tomcat.ConfigurableTomcatWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The way to Tomcat's executor by the types of Spring Boot 3. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(ConfigurableTomcatWebServerFactory.class)
class Boot3Tomcat {

  /** Without an order it runs after that of {@code spring.threads.virtual.enabled}. */
  @Bean
  WebServerFactoryCustomizer<ConfigurableTomcatWebServerFactory> fibryTomcatCustomizer(FiberPool fibryTomcatPool) {
    return factory -> factory.addProtocolHandlerCustomizers(handler -> handler.setExecutor(fibryTomcatPool.sink()));
  }
}
