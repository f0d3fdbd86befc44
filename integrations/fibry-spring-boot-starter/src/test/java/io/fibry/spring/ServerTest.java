package io.fibry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorWithReturn;
import io.fibry.CircuitOpenException;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A real Tomcat on a pool of fibers, with two requests at work and two waiting. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ServerTest {
  private static final int AT_ONCE = 2;
  private static final int WAITING = 2;

  private final Semaphore inside = new Semaphore(0);
  private final Semaphore leave = new Semaphore(0);
  private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private ConfigurableApplicationContext context;

  /** Reports that a request is inside, and keeps it there until the test releases it. */
  private String hold(String message) throws InterruptedException {
    inside.release();
    leave.acquire();
    return message;
  }

  @RestController
  static class Desk {
    private final ActorWithReturn<String, String> clerk;
    private final ServerTest test;

    Desk(ActorWithReturn<String, String> clerk, ServerTest test) {
      this.clerk = clerk;
      this.test = test;
    }

    @GetMapping("/hold")
    String hold() throws InterruptedException {
      return test.hold(Thread.currentThread().isVirtual() ? "fiber" : "thread");
    }

    @GetMapping("/ask")
    String ask() {
      return clerk.ask("asked", Duration.ofMillis(50));
    }

    @GetMapping("/open")
    String open() {
      throw new CircuitOpenException("open", "payments", "pay");
    }

    @GetMapping("/later")
    CompletableFuture<String> later() {
      return clerk.sendMessageReturn("later");
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Beans {
    @Bean
    ActorWithReturn<String, String> clerk(ActorScope scope, ServerTest test) {
      return scope.named("clerk").mailbox(Mailbox.bounded(1, Overflow.REJECT)).newActorWithReturn(test::hold);
    }
  }

  @BeforeAll
  void start() {
    var application = new SpringApplication(Beans.class, Desk.class);
    application.addInitializers(made -> made.getBeanFactory().registerSingleton("test", this));
    context =
        application.run("--server.port=0", "--spring.main.banner-mode=off", "--spring.threads.virtual.enabled=true",
            "--fibry.executor.tomcat.enabled=true", "--fibry.executor.tomcat.concurrency=" + AT_ONCE,
            "--fibry.executor.tomcat.max-queued=" + WAITING, "--fibry.executor.tasks.enabled=true");
  }

  @AfterAll
  void close() {
    context.close();
    client.close();
  }

  @AfterEach
  void releaseAll() {
    leave.release(100);
    assertTrue(
        pool().awaitQuiescence(Patience.LONG) && context.getBean(ActorScope.class).awaitQuiescence(Patience.LONG));
    leave.drainPermits();
    inside.drainPermits();
  }

  private ActorScope pool() {
    return context.getBean("fibryTomcatPool", FiberPool.class).scope();
  }

  private CompletableFuture<HttpResponse<String>> get(String path) {
    var uri = URI.create("http://localhost:" + context.getEnvironment().getProperty("local.server.port") + path);
    return client.sendAsync(HttpRequest.newBuilder(uri).timeout(Patience.LONG).build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private void awaitInside(int requests) {
    Patience.acquired(inside, requests);
  }

  @Test
  void poolHandlesRequestsEvenWithSpringVirtualThreads() throws Exception {
    long before = pool().report().handled();
    var answer = get("/hold");
    awaitInside(1);

    assertTrue(pool().dump().contains("tomcat"));
    leave.release();

    assertEquals("fiber", answer.join().body());
    assertTrue(pool().awaitQuiescence(Patience.LONG));
    assertTrue(pool().report().handled() > before);
  }

  @Test
  void tasksHaveTheirOwnPool() {
    assertEquals(Set.of("tasks", "tomcat"), context.getBeansOfType(FiberPool.class).values().stream()
        .map(pool -> pool.scope().name()).collect(Collectors.toSet()));
  }

  @Test
  void excessRequestIsClosedAndOthersAreServed() throws Exception {
    var taken = new ArrayList<CompletableFuture<HttpResponse<String>>>();
    for (int i = 0; i < AT_ONCE; i++) taken.add(get("/hold"));
    awaitInside(AT_ONCE);
    for (int i = 0; i < WAITING; i++) taken.add(get("/hold"));
    Patience.eventually(() -> pool().report().queued() == WAITING);

    var refused = assertThrows(CompletionException.class, () -> get("/hold").join());

    assertInstanceOf(IOException.class, refused.getCause());
    leave.release(taken.size());
    assertEquals(List.of(200), taken.stream().map(answer -> answer.join().statusCode()).distinct().toList());
  }

  @Test
  void openCircuitBreakerAnswers503() {
    var answer = get("/open").join();

    assertEquals(503, answer.statusCode());
    assertTrue(!answer.body().contains("payments"), answer::body);
  }

  @Test
  void fullActorAnswers503AlsoForFuture() throws Exception {
    var first = get("/later");
    awaitInside(1);
    var second = get("/later");
    Patience.eventually(() -> context.getBean(ActorScope.class).report().queued() == 1);

    var later = get("/later").join();
    var asked = get("/ask").join();

    assertEquals(503, later.statusCode());
    assertEquals("1", later.headers().firstValue("Retry-After").orElseThrow());
    assertEquals(503, asked.statusCode());
    assertTrue(asked.body().contains("try again later") && !asked.body().contains("clerk"), asked::body);
    leave.release(2);
    assertEquals(List.of("later", "later"), List.of(first.join().body(), second.join().body()));
  }

  @Test
  void lateAnswerIsReportedAs504() throws Exception {
    var answer = get("/ask").join();

    assertEquals(504, answer.statusCode());
    assertTrue(answer.body().contains("no answer in time") && !answer.body().contains("clerk"), answer::body);
  }
}
