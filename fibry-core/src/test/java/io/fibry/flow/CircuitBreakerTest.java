package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.CircuitOpenException;
import io.fibry.DeadLetter.Reason;
import io.fibry.FailurePolicy;
import io.fibry.MailboxFullException;
import io.fibry.flow.CircuitBreaker.BreakerStats;
import io.fibry.flow.CircuitBreaker.Options;
import io.fibry.flow.CircuitBreaker.State;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.pool.Pools;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CircuitBreakerTest {
  private static final Duration PAUSE = Duration.ofSeconds(5);

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("breakers", o -> o.withScheduler(clock));
  private final List<State> changes = new CopyOnWriteArrayList<>();
  private final AtomicInteger calls = new AtomicInteger();
  private final Gate gate = new Gate();
  private CircuitBreaker breaker;

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  /** Returns an actor whose circuit breaker opens if two of the latest four calls have failed. */
  private ActorWithReturn<Object, Object> service(UnaryOperator<Options> options) {
    breaker = CircuitBreaker.of("payments", scope.anonymous(),
        o -> options.apply(o.withWindow(4, 4).withPause(PAUSE).withProbes(2).withListener(changes::add)));
    return breaker.around(Pools.fixed(scope.anonymous(), 8)).onFailure(FailurePolicy.resume().withoutLog())
        .newActorWithReturn(message -> {
          calls.incrementAndGet();
          if (message == gate) gate.pass();
          if (message instanceof Exception failure) throw failure;
          if (message instanceof Duration time) clock.advance(time);
          return message;
        });
  }

  private static void fail(ActorWithReturn<Object, Object> service, int times) {
    for (int i = 0; i < times; i++)
      assertThrows(IOException.class, () -> service.ask(new IOException("planned")));
  }

  private ActorWithReturn<Object, Object> openBreaker() {
    var service = service(o -> o);
    fail(service, 4);
    assertEquals(State.OPEN, breaker.state());
    return service;
  }

  private void assertRefuses(ActorWithReturn<Object, Object> service) {
    int callsBefore = calls.get();
    assertThrows(CircuitOpenException.class, () -> service.ask("refused"));
    assertEquals(callsBefore, calls.get());
  }

  @Promise({"19.18", "24.6"})
  @Test
  void breakerOpensWhenTooManyRecentCallsFail() {
    var service = service(o -> o);
    fail(service, 1);
    for (int i = 0; i < 4; i++) assertEquals(i, service.ask(i));
    fail(service, 1);
    assertEquals(State.CLOSED, breaker.state());

    fail(service, 1);

    assertEquals(State.OPEN, breaker.state());
    assertRefuses(service);
    assertEquals(new BreakerStats(7, 3, 1), breaker.stats());
    assertEquals(List.of(State.OPEN), changes);
    assertEquals("circuit breaker 'payments', OPEN", breaker.toString());
  }

  @Test
  void logExplainsWhyBreakerOpensAfterSuccessfulCall() {
    var service = service(o -> o);
    fail(service, 2); // too few calls to open the breaker
    service.ask(1);
    try (var logged = new Logged()) {
      service.ask(2);

      var line = logged.lines("circuit breaker 'payments'").getFirst();
      assertTrue(line.endsWith(
          "is open for 5 s; the last call succeeded, but too many of the latest calls failed"), line);
    }
    assertEquals(State.OPEN, breaker.state());
  }

  @ParameterizedTest
  @CsvSource({"true, java.io.IOException: no\\nroute", "false, IOException"})
  void logHasTextOfExceptionUnlessScopeHidesContents(boolean isShown, String expected) {
    try (var quiet = ActorSystem.openScope("quiet", o -> o.withMessageContents(isShown)); var logged = new Logged()) {
      var service = CircuitBreaker.of("routes", quiet.anonymous(), o -> o.withWindow(1, 1)).around(quiet.anonymous())
          .onFailure(FailurePolicy.resume().withoutLog()).newActorWithReturn(message -> {
            throw new IOException("no\nroute");
          });

      assertThrows(IOException.class, () -> service.ask("go"));

      var line = logged.lines("circuit breaker 'routes'").getFirst();
      assertTrue(line.endsWith("is open for 5 s; the last call threw " + expected), line);
    }
  }

  @Test
  void refusalDistinguishesOpenAndHalfOpenBreaker() {
    var circuit = new CircuitState(1, 1, 1, 10, 1);
    circuit.leave(circuit.enter(0), 0, true);

    assertEquals(CircuitState.REFUSED_OPEN, circuit.enter(9));
    long probe = circuit.enter(10);
    assertEquals(CircuitState.REFUSED_HALF_OPEN, circuit.enter(11));

    assertEquals(CircuitState.StateChange.CLOSED, circuit.leave(probe, 12, false));
  }

  @Promise("24.6")
  @Test
  void callRefusedByBreakerDoesNotRestartItsActor() {
    breaker = CircuitBreaker.of("bank", scope.anonymous(), o -> o.withWindow(1, 1));
    var states = new AtomicInteger(); // the account gets a new state when it starts and restarts
    var account = breaker.around(scope.anonymous()).onFailure(FailurePolicy.restart().withoutLog())
        .initialState(() -> {
          states.incrementAndGet();
          return new int[1];
        }).newActorWithReturn((int[] balance, Integer amount) -> {
          if (amount < 0) throw new IOException("planned");
          return balance[0] += amount;
        });
    account.ask(5);
    assertThrows(IOException.class, () -> account.ask(-1)); // restarts the account
    assertThrows(CircuitOpenException.class, () -> account.ask(7));
    var refusal = assertThrows(CircuitOpenException.class, () -> account.ask(8));
    clock.advance(PAUSE);

    assertEquals(3, account.ask(3));
    assertEquals(2, states.get());
    assertEquals(2, scope.report().unhandled().get(Reason.NESTED_REQUEST_FAILED));
    assertEquals(1, scope.report().unhandled().get(Reason.FAILED));
    assertEquals("circuit breaker 'bank' is open, because too many calls failed; "
        + "try again after its pause of 5 s", refusal.getMessage());
    assertEquals("bank", refusal.actor());
    assertEquals(8, refusal.request());
  }

  @Promise("24.7")
  @Test
  void successfulProbesCloseBreakerAfterPause() {
    var service = openBreaker();
    clock.advance(PAUSE.minusNanos(1));
    assertRefuses(service);
    clock.advance(Duration.ofNanos(1));

    assertEquals("probe", service.ask("probe"));
    assertEquals(State.HALF_OPEN, breaker.state());
    assertEquals("probe", service.ask("probe"));

    assertEquals(State.CLOSED, breaker.state());
    assertEquals(List.of(State.OPEN, State.CLOSED), changes);
    fail(service, 3);
    assertEquals(State.CLOSED, breaker.state());
  }

  @Promise("24.7")
  @Test
  void failedProbeOpensBreakerForAnotherPause() {
    var service = openBreaker();
    clock.advance(PAUSE);
    assertEquals("probe", service.ask("probe"));

    fail(service, 1);

    assertEquals(State.OPEN, breaker.state());
    clock.advance(PAUSE.minusNanos(1));
    assertRefuses(service);
    clock.advance(Duration.ofNanos(1));
    assertEquals("probe", service.ask("probe"));
  }

  @Promise("24.7")
  @Test
  void concurrentProbesAreLimitedAndHungProbesAreReplaced() {
    var service = openBreaker();
    clock.advance(PAUSE);
    var firstProbe = service.sendMessageReturn(gate);
    var secondProbe = service.sendMessageReturn(gate);
    Patience.eventually(() -> calls.get() == 6);
    var refusal = assertThrows(CircuitOpenException.class, () -> service.ask("refused"));
    assertEquals(6, calls.get());
    assertEquals("circuit breaker 'payments' is half open, and its 2 probes have begun; "
        + "try again when they have ended", refusal.getMessage());

    clock.advance(PAUSE);
    assertEquals("new", service.ask("new"));
    assertEquals("new", service.ask("new"));
    assertEquals(State.CLOSED, breaker.state());

    gate.open(); // these probes belong to an earlier period and do not count
    Patience.value(firstProbe);
    Patience.value(secondProbe);
    assertEquals(State.CLOSED, breaker.state());
  }

  @Test
  void callBegunBeforeBreakerOpenedDoesNotCountAsProbe() {
    var service = service(o -> o);
    var earlyCall = service.sendMessageReturn(gate);
    Patience.await(gate.entered);
    fail(service, 4);
    clock.advance(PAUSE);
    assertEquals("probe", service.ask("probe"));

    gate.open();
    Patience.value(earlyCall);

    assertEquals(State.HALF_OPEN, breaker.state());
  }

  @Promise("24.6")
  @Test
  void fullDownstreamMailboxOpensBreaker() {
    var payments = scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.REJECT))
        .newActorWithReturn((Object message) -> {
          gate.pass();
          return message;
        });
    payments.sendMessage("busy");
    Patience.await(gate.entered);
    payments.sendMessage("waits");
    breaker = CircuitBreaker.of("payments", scope.anonymous(), o -> o.withWindow(2, 2));
    var orders = breaker.around(scope.anonymous()).newActorWithReturn((Object order) -> payments.ask(order));

    assertThrows(MailboxFullException.class, () -> orders.ask("a"));
    assertThrows(MailboxFullException.class, () -> orders.ask("b"));

    assertThrows(CircuitOpenException.class, () -> orders.ask("c"));
  }

  @Promise("24.8")
  @Test
  void slowCallsCountAsFailuresIfConfigured() {
    var service = service(o -> o.withSlowCalls(Duration.ofSeconds(1)));
    for (int i = 0; i < 2; i++) service.ask(Duration.ofSeconds(1));
    for (int i = 0; i < 2; i++) service.ask(Duration.ofSeconds(1).plusNanos(1));

    assertEquals(State.OPEN, breaker.state());
  }

  @Promise("24.8")
  @Test
  void breakerOpensOnlyForFailuresThatFilterAccepts() {
    var service = service(o -> o.withFailureFilter(failure -> failure instanceof IOException));
    for (int i = 0; i < 8; i++)
      assertThrows(IllegalArgumentException.class, () -> service.ask(new IllegalArgumentException("planned")));
    for (int i = 0; i < 8; i++)
      assertThrows(CancellationException.class, () -> service.ask(new CancellationException("planned")));
    assertEquals(State.CLOSED, breaker.state());

    fail(service, 4);

    assertEquals(State.OPEN, breaker.state());
  }

  @Test
  void successfulProbesCloseBreakerAfterIgnoredFailures() {
    var service = service(o -> o.withFailureFilter(failure -> failure instanceof IOException));
    fail(service, 4);
    clock.advance(PAUSE);
    for (int i = 0; i < 8; i++)
      assertThrows(IllegalArgumentException.class, () -> service.ask(new IllegalArgumentException("planned")));

    service.ask("probe");
    service.ask("probe");

    assertEquals(State.CLOSED, breaker.state());
  }

  @Test
  void breakerOpensAtExactFailureRate() {
    var service = service(o -> o.withWindow(100, 100).withFailureRate(0.07)); // the double 0.07 * 100 exceeds 7
    for (int i = 0; i < 93; i++) assertEquals(i, service.ask(i));
    fail(service, 6);
    assertEquals(State.CLOSED, breaker.state());

    fail(service, 1);

    assertEquals(State.OPEN, breaker.state());
  }

  @Test
  void breakerOpensAndClosesWhenFilterAndListenerThrow() {
    var service = service(o -> o.withFailureFilter(failure -> {
      throw new AssertionError("planned");
    }).withListener(state -> {
      throw new AssertionError("planned");
    }));
    fail(service, 4);

    assertEquals(State.OPEN, breaker.state());
    clock.advance(PAUSE);
    assertEquals("probe", service.ask("probe"));
    assertEquals("probe", service.ask("probe"));
    assertEquals(State.CLOSED, breaker.state());
  }

  @Test
  void openBreakerCausesHttpStatus503() throws Exception {
    var service = openBreaker();
    var server = HttpServer.open(scope.anonymous(), 0,
        HttpRoutes.none().text("/pay", exchange -> service.ask("pay").toString()), o -> o);
    try (var client = HttpClient.newHttpClient()) {
      var uri = URI.create("http://localhost:" + server.port() + "/pay");
      var response = client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());

      assertEquals(503, response.statusCode());
      assertEquals("1", response.headers().firstValue("Retry-After").orElse(""));
    }
  }

  @Test
  void invalidBreakerOptionsAreRefused() {
    var messages = new ArrayList<String>();
    for (UnaryOperator<Options> options : List.<UnaryOperator<Options>>of(
        o -> o.withWindow(3, 4), o -> o.withWindow(3, 0),
        o -> o.withFailureRate(0), o -> o.withFailureRate(Double.NaN), o -> o.withPause(Duration.ZERO),
        o -> o.withProbes(0), o -> o.withSlowCalls(Duration.ZERO)))
      messages.add(assertThrows(IllegalArgumentException.class,
          () -> CircuitBreaker.of("x", scope.anonymous(), options)).getMessage());

    assertEquals(List.of("a breaker that counts the latest 3 calls never counts 4; let minCalls be at most calls",
        "a breaker cannot judge by 0 calls; give at least 1",
        "a breaker cannot open at a share of 0.0 failures; give more than 0 and at most 1",
        "a breaker cannot open at a share of NaN failures; give more than 0 and at most 1",
        "a breaker that opens for 0 s protects no service; give more than zero",
        "a breaker cannot close after 0 probes; give at least 1",
        "each call takes longer than 0 s; give more than zero"), messages);
    assertThrows(IllegalArgumentException.class, () -> CircuitBreaker.of(" ", scope.anonymous(), o -> o));
    assertEquals("builder",
        assertThrows(NullPointerException.class, () -> CircuitBreaker.of("x", null, o -> o)).getMessage());
  }

  /**
   * Four threads use one breaker, and a third of their calls fail at random. A half-open period
   * admits three probes, and another for each ignored probe.
   */
  @Test
  void halfOpenBreakerAdmitsOnlyProbes() {
    long seed = StressRuns.seed();
    System.out.println("circuit breaker: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    var circuit = new CircuitState(8, 4, 0.5, 10, 3);
    var faults = new CopyOnWriteArrayList<String>();
    var rounds = new LongAdder();
    var probesByPeriod = new ConcurrentHashMap<Long, AtomicInteger>();
    var time = new AtomicInteger();
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < 4; i++) {
      var threadRandom = random.split();
      threads.add(Patience.startFiber(() -> {
        for (int round = 0; round < 20_000; round++, rounds.increment()) {
          long period = circuit.enter(time.getAndIncrement() / 8);
          if (period < 0) continue; // refused
          // A call of the closed period may see the half-open state of a later period. At most
          // three of four threads have such a call, because the fourth has changed the state.
          boolean isProbe = circuit.state() == State.HALF_OPEN;
          var probeCount = probesByPeriod.computeIfAbsent(period, number -> new AtomicInteger());
          if (isProbe && probeCount.incrementAndGet() > 3) faults.add("too many probes");
          if (threadRandom.nextInt(8) == 0) Thread.yield();
          boolean fails = threadRandom.nextInt(3) == 0;
          if (threadRandom.nextInt(16) == 0) {
            if (isProbe) probeCount.decrementAndGet();
            circuit.ignore(period);
          } else circuit.leave(period, time.get() / 8, fails);
        }
      }));
    }
    Patience.progress(rounds::sum, () -> threads.stream().noneMatch(Thread::isAlive));
    threads.forEach(Patience::awaitEnd);

    assertEquals(List.of(), faults);
    // a series of successful calls must close the breaker from any state
    for (int i = 0; i < 1_000 && circuit.state() != State.CLOSED; i++) {
      long period = circuit.enter(time.addAndGet(8) / 8);
      if (period >= 0) circuit.leave(period, time.get() / 8, false);
    }
    assertEquals(State.CLOSED, circuit.state());
  }

  @Test
  void failuresOfOneActorOpenBreakerForAllItsActors() {
    breaker = CircuitBreaker.of("shared", scope.anonymous(), o -> o.withWindow(2, 2));
    var builder = breaker.around(scope.anonymous()).onFailure(FailurePolicy.resume().withoutLog());
    var failingActor = builder.newActorWithReturn((Object message) -> {
      throw new IOException("planned");
    });
    var echoActor = builder.newActorWithReturn((Object message) -> message);
    for (int i = 0; i < 2; i++) assertThrows(IOException.class, () -> failingActor.ask("fails"));

    assertInstanceOf(CircuitOpenException.class,
        Patience.failure((CompletableFuture<?>) echoActor.sendMessageReturn("refused")));
    assertTrue(scope.awaitQuiescence(Patience.LONG));
  }
}
