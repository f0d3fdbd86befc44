package io.fibry.spring;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.web.embedded.tomcat.ConfigurableTomcatWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Sets the executor of Tomcat, with the types of Spring Boot 3. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(ConfigurableTomcatWebServerFactory.class)
class Boot3Tomcat {

  /**
   * Has no order, so it runs after the customizer of {@code spring.threads.virtual.enabled}, and
   * replaces the executor of that customizer.
   */
  @Bean
  WebServerFactoryCustomizer<ConfigurableTomcatWebServerFactory> fibryTomcatCustomizer(FiberPool fibryTomcatPool) {
    return factory -> factory.addProtocolHandlerCustomizers(handler -> handler.setExecutor(fibryTomcatPool.sink()));
  }
}
