package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.fibry.flow.Batch;
import io.fibry.flow.CircuitBreaker;
import io.fibry.flow.HookedFunction;
import io.fibry.flow.RateLimit;
import io.fibry.flow.TimeLimit;
import io.fibry.pool.Pools;
import io.fibry.stereotype.Stereotypes;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Runs the Javadoc snippets of {@code io.fibry.flow} and {@code Stereotypes}. */
class FlowSnippetsTest {
  private final List<Object> printed = new CopyOnWriteArrayList<>();

  private void print(Object line) {
    printed.add(line);
  }

  private static void audit(int n, int reply) {}

  @Test
  void closeOfBatchHandlesGatheredMessages() {
    var shop = ActorSystem.openScope("shop", o -> o.withScheduler(new ManualScheduler()));
    // @start region="batch"
    Actor<String> log =
        Batch.ofLists(shop.anonymous(), 100, Duration.ofSeconds(1), lines -> print(lines.size() + " in one go"));
    Actor<String> clicks = Batch.ofCounts(shop.named("clicks"), 1_000, Duration.ofSeconds(10),
        (Map<String, Long> counts) -> print(counts));

    for (var page : List.of("home", "shop", "home")) {
      log.sendMessage("visit of " + page);
      clicks.sendMessage(page);
    }
    log.close(); // handles the last batch: prints 3 in one go
    clicks.close(); // prints {home=2, shop=1}
    // @end

    assertEquals(List.of("3 in one go", Map.of("home", 2L, "shop", 1L)), printed);
    shop.close();
  }

  @Test
  void rateLimitedActorAnswersFirstRequest() {
    // @start region="rateLimit"
    var geocoder = RateLimit.around(ActorSystem.named("geocoder"), 5, Duration.ofMinutes(1))
        .newActorWithReturn((String address) -> address.length());

    int length = geocoder.ask("Main Street 1"); // the first five of a minute do not wait
    // @end

    assertEquals(13, length);
    geocoder.close();
  }

  @Test
  void requestBeyondTimeLimitFailsWithTimeout() {
    var clock = new ManualScheduler();
    var shop = ActorSystem.openScope("shop", o -> o.withScheduler(clock));
    // @start region="timeLimit"
    var search = TimeLimit.around(shop.anonymous().onFailure(FailurePolicy.resume().withoutLog()),
        Duration.ofMillis(50)).newActorWithReturn((String word) -> {
          if (word.length() > 5) new CountDownLatch(1).await(); // a search without end
          return word + " found";
        });

    String result = search.ask("hat"); // "everything" would be a TimeoutException after 50 ms
    // @end

    assertEquals("hat found", result);
    var everything = search.sendMessageReturn("everything");
    Patience.eventually(() -> {
      clock.advance(Duration.ofMillis(50));
      return everything.isDone();
    });
    assertInstanceOf(TimeoutException.class, Patience.failure(everything));
    shop.close();
  }

  @Test
  void closedCircuitBreakerLetsRequestPass() {
    // @start region="circuitBreaker"
    var breaker = CircuitBreaker.of("payments", ActorSystem.anonymous(),
        o -> o.withWindow(20, 10).withFailureRate(0.5).withPause(Duration.ofSeconds(5)));
    var payments = breaker.around(Pools.fixed(ActorSystem.named("payments"), 4))
        .newActorWithReturn((Integer cents) -> pay(cents)); // calls the service

    String receipt;
    try {
      receipt = payments.ask(300);
    } catch (CircuitOpenException rejection) { // the service has failed too often
      receipt = "later";
    }
    // @end

    assertEquals("300", receipt);
    payments.close();
  }

  private static String pay(Integer cents) {
    return cents.toString();
  }

  @Test
  void beforeHookRunsAtEachCallOfHookedFunction() throws Exception {
    // @start region="hooks"
    var square = HookedFunction.around(ActorSystem.anonymous(), (Integer n) -> n * n)
        .before(n -> print("squaring " + n))
        .afterAsync((n, reply) -> audit(n, reply)) // no caller waits for it
        .onError((n, failure) -> print(n + " failed: " + failure));

    int nine = square.handle(3); // a function like any other,
    int sixteen = ActorSystem.anonymous().newActorWithReturn(square).ask(4); // or a handler
    // @end

    assertEquals(List.of(9, 16), List.of(nine, sixteen));
    assertEquals(List.of("squaring 3", "squaring 4"), printed);
  }

  @Test
  void scheduledTasksRunUntilTheyEndTheirActor() {
    var ticks = new AtomicInteger();
    // @start region="schedule"
    var recipes = Stereotypes.fibers();
    recipes.scheduleWithFixedDelay(Duration.ofMillis(10), Duration.ofHours(1), self -> {
      print("once");
      self.askExit();
    }).waitForExit();
    recipes.scheduleAtFixedRate(Duration.ZERO, Duration.ofMillis(10), self -> {
      if (ticks.incrementAndGet() == 3) self.askExit();
    }).waitForExit();
    // @end

    assertEquals(List.of("once"), printed);
    assertEquals(3, ticks.get());
  }
}
