package io.fibry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorWithReturn;
import io.fibry.CircuitOpenException;
import io.fibry.MailboxFullException;
import io.fibry.RequestException;
import io.fibry.RequestOutcome;
import io.fibry.cluster.UnavailableException;
import io.fibry.durable.RequestStoredException;
import io.fibry.durable.StorageFailedException;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.net.HttpException;
import io.fibry.store.StoreFullException;
import io.fibry.support.Patience;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** Tests Tomcat on a pool of two fibers, for which at most two more requests may wait. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ServerTest {
  private static final int CONCURRENCY = 2;
  private static final int MAX_QUEUED = 2;

  private static final Map<String, RequestException> UNANSWERED =
      Map.of("stored-full", stored(new MailboxFullException("full", "clerk", "hat", 1)),
          "stored-unread", stored(new IllegalStateException("no disk")),
          "unreached", unavailable(RequestOutcome.NOT_DONE), "lost", unavailable(RequestOutcome.UNKNOWN),
          "unstored", new StorageFailedException("clerk does not get hat", "clerk", "hat",
              new StoreFullException("disk full", null), RequestOutcome.NOT_DONE));

  private final Semaphore entered = new Semaphore(0);
  private final Semaphore exitPermits = new Semaphore(0);
  private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private ConfigurableApplicationContext context;

  private static RequestException stored(RuntimeException cause) {
    return new RequestStoredException("clerk", "hat", "hat", cause);
  }

  private static RequestException unavailable(RequestOutcome outcome) {
    return new UnavailableException("hat did not reach clerk", "clerk", "hat", null, outcome);
  }

  /** Counts the request as entered, and holds it until the test releases a permit. */
  private String hold(String message) throws InterruptedException {
    entered.release();
    exitPermits.acquire();
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
      return clerk.ask("ask", Duration.ofMillis(50));
    }

    @GetMapping("/open")
    String open() {
      throw new CircuitOpenException("open", "payments", "pay");
    }

    @GetMapping("/thrown/{status}")
    String thrown(@PathVariable int status) {
      throw new HttpException(status, "no such order");
    }

    @GetMapping("/unanswered/{kind}")
    String unanswered(@PathVariable String kind) {
      throw UNANSWERED.get(kind);
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
    application.addInitializers(newContext -> newContext.getBeanFactory().registerSingleton("test", this));
    context =
        application.run("--server.port=0", "--spring.main.banner-mode=off", "--spring.threads.virtual.enabled=true",
            "--fibry.executor.tomcat.enabled=true", "--fibry.executor.tomcat.concurrency=" + CONCURRENCY,
            "--fibry.executor.tomcat.max-queued=" + MAX_QUEUED, "--fibry.executor.tasks.enabled=true");
  }

  @AfterAll
  void close() {
    context.close();
    client.close();
  }

  @AfterEach
  void releaseAll() {
    exitPermits.release(100);
    assertTrue(
        pool().awaitQuiescence(Patience.LONG) && context.getBean(ActorScope.class).awaitQuiescence(Patience.LONG));
    exitPermits.drainPermits();
    entered.drainPermits();
  }

  private ActorScope pool() {
    return context.getBean("fibryTomcatPool", FiberPool.class).scope();
  }

  private CompletableFuture<HttpResponse<String>> get(String path) {
    var uri = URI.create("http://localhost:" + context.getEnvironment().getProperty("local.server.port") + path);
    return client.sendAsync(HttpRequest.newBuilder(uri).timeout(Patience.LONG).build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private void awaitEntered(int requests) {
    Patience.acquire(entered, requests);
  }

  @Test
  void tomcatPoolHandlesRequestsDespiteSpringVirtualThreads() throws Exception {
    long handledBefore = pool().report().handled();
    var response = get("/hold");
    awaitEntered(1);

    assertTrue(pool().dump().contains("tomcat"));
    exitPermits.release();

    assertEquals("fiber", response.join().body());
    assertTrue(pool().awaitQuiescence(Patience.LONG));
    assertTrue(pool().report().handled() > handledBefore);
  }

  @Test
  void tasksAndTomcatHaveSeparatePools() {
    assertEquals(Set.of("tasks", "tomcat"), context.getBeansOfType(FiberPool.class).values().stream()
        .map(pool -> pool.scope().name()).collect(Collectors.toSet()));
  }

  @Test
  void excessConnectionIsClosedAndOtherRequestsAreServed() throws Exception {
    var accepted = new ArrayList<CompletableFuture<HttpResponse<String>>>();
    for (int i = 0; i < CONCURRENCY; i++) accepted.add(get("/hold"));
    awaitEntered(CONCURRENCY);
    for (int i = 0; i < MAX_QUEUED; i++) accepted.add(get("/hold"));
    Patience.eventually(() -> pool().report().queued() == MAX_QUEUED);

    var refusal = assertThrows(CompletionException.class, () -> get("/hold").join());

    assertInstanceOf(IOException.class, refusal.getCause());
    exitPermits.release(accepted.size());
    assertEquals(List.of(200), accepted.stream().map(response -> response.join().statusCode()).distinct().toList());
  }

  @Test
  void openCircuitBreakerGives503() {
    var response = get("/open").join();

    assertEquals(503, response.statusCode());
    assertTrue(!response.body().contains("payments"), response::body);
  }

  @Test
  void httpExceptionGivesItsStatusAndText() {
    for (int status : List.of(404, 503)) {
      var response = get("/thrown/" + status).join();

      assertEquals(status, response.statusCode());
      assertTrue(response.body().contains("no such order"), response::body);
      assertEquals(status == 503, response.headers().firstValue("Retry-After").isPresent());
    }
  }

  @ParameterizedTest
  @CsvSource({"stored-full, 504", "stored-unread, 504", "unreached, 503", "unstored, 503", "lost, 500"})
  void outcomeOfUnansweredRequestGivesStatus(String kind, int status) {
    var response = get("/unanswered/" + kind).join();

    assertEquals(status, response.statusCode(), response::body);
    assertEquals(status == 503, response.headers().firstValue("Retry-After").isPresent());
    assertFalse(response.body().contains("clerk"), response::body);
  }

  @Test
  void fullMailboxGives503ForAskAndFuture() throws Exception {
    var firstAccepted = get("/later");
    awaitEntered(1);
    var secondAccepted = get("/later");
    Patience.eventually(() -> context.getBean(ActorScope.class).report().queued() == 1);

    var futureResponse = get("/later").join();
    var askResult = get("/ask").join();

    assertEquals(503, futureResponse.statusCode());
    assertEquals("1", futureResponse.headers().firstValue("Retry-After").orElseThrow());
    assertEquals(503, askResult.statusCode());
    assertTrue(askResult.body().contains("try again later") && !askResult.body().contains("clerk"), askResult::body);
    exitPermits.release(2);
    assertEquals(List.of("later", "later"), List.of(firstAccepted.join().body(), secondAccepted.join().body()));
  }

  @Test
  void lateAnswerGives504() throws Exception {
    var response = get("/ask").join();

    assertEquals(504, response.statusCode());
    assertTrue(response.body().contains("no answer in time") && !response.body().contains("clerk"), response::body);
  }
}
