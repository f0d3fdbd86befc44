package io.fibry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorWithReturn;
import io.fibry.support.Patience;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Tests the endpoints of Actuator over HTTP, configured by Spring Boot alone. The tests share an
 * application, whose scope the last test closes.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ActuatorServerTest {
  @TempDir
  private static Path folder;

  private static final HttpClient CLIENT = HttpClient.newHttpClient();
  private static ConfigurableApplicationContext context;

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Beans {
    @Bean
    ActorWithReturn<Integer, Integer> square(ActorScope scope) {
      return scope.named("square").newActorWithReturn((Integer n) -> n * n);
    }
  }

  @BeforeAll
  static void start() {
    context = new SpringApplication(Beans.class).run("--server.port=0", "--spring.main.banner-mode=off",
        "--spring.application.name=shop", "--fibry.executor.tomcat.enabled=true", "--fibry.store.folder=" + folder,
        "--management.endpoints.web.exposure.include=*", "--management.endpoint.health.show-details=always");
  }

  @AfterAll
  static void close() {
    if (context != null) context.close();
    CLIENT.close();
  }

  private HttpResponse<String> get(String path, String accept) throws Exception {
    var uri = URI.create("http://localhost:" + context.getEnvironment().getProperty("local.server.port")
        + "/actuator/" + path);
    return CLIENT.send(HttpRequest.newBuilder(uri).header("Accept", accept).timeout(Patience.LONG).build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private String json(String path) throws Exception {
    var response = get(path, "application/json");
    assertEquals(200, response.statusCode(), path);
    return response.body();
  }

  @Test
  void actuatorShowsHealthActorsAndMetersOfOpenScope() throws Exception {
    @SuppressWarnings("unchecked") // the type that the bean method declares
    var square = (ActorWithReturn<Integer, Integer>) context.getBean("square", ActorWithReturn.class);
    assertEquals(9, square.ask(3));
    assertTrue(context.getBean(ActorScope.class).awaitQuiescence(Patience.LONG));

    var health = json("health");
    var actors = json("actors");
    var dump = get("actors", "text/plain").body();

    assertTrue(health.contains("\"fibry\":{") && health.contains("\"scope\":\"shop\",\"handled\":1"), health);
    assertTrue(health.contains("\"fibryStore\":{") && health.contains("\"folderStore\":{\"turns\":0"), health);
    assertTrue(actors.contains("\"scope\":\"shop\"") && actors.contains("\"scope\":\"tomcat\""), actors);
    assertTrue(dump.contains("square (FIBER): idle; 1 handled"), dump);
    for (var meter : List.of("fibry.messages?tag=scope:shop&tag=outcome:handled",
        "fibry.messages.waiting?tag=scope:tomcat", "fibry.wait?tag=scope:shop", "fibry.handling?tag=scope:tomcat",
        "fibry.store.fsync?tag=store:folderStore"))
      assertTrue(json("metrics/" + meter).contains("\"measurements\":[{"), meter);
  }

  @Test
  @Order(Integer.MAX_VALUE)
  void healthOfClosedScopeIsDown() throws Exception {
    context.getBean(ActorScope.class).close();

    var health = get("health", "application/json");

    assertEquals(503, health.statusCode());
    assertTrue(health.body().contains("scope 'shop' is closed"), health::body);
  }
}
