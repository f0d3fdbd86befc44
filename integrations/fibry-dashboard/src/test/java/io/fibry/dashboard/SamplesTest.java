package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the samples that a dashboard takes while no page is open. */
class SamplesTest {
  private static final Duration PAUSE = SnapshotActor.MIN_PAUSE;

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope =
      ActorSystem.openScope("app", options -> options.withScheduler(clock).withDrainLimit(Duration.ofHours(2)));
  private final CountDownLatch gate = new CountDownLatch(1);

  @AfterEach
  void close() {
    gate.countDown();
    scope.closeWithin(Duration.ZERO);
  }

  private Dashboard open(UnaryOperator<DashboardOptions> options) {
    var dashboard = Dashboard.open(scope, 0, options, clock);
    DashboardTest.advance(clock, Duration.ZERO); // until the dashboard has taken its first sample
    return dashboard;
  }

  private static String statistics(Dashboard dashboard) throws Exception {
    return Web.get(dashboard.port(), "/statistics");
  }

  private static String row(String text, String name) {
    var matcher = Pattern.compile("\\{\"scope\":\\d+,\"name\":\"" + name + "\"[^}]*}").matcher(text);
    assertTrue(matcher.find(), text);
    return matcher.group();
  }

  @Test
  void firstSnapshotHasRatesSinceLastSample() throws Exception {
    var server = HttpServer.open(scope.named("web"), 0, HttpRoutes.none().text("GET /", exchange -> "x"), o -> o);
    var echo = scope.named("echo").newActorWithReturn((String text) -> text);
    try (var dashboard = open(options -> options.withRoutes("api", server))) {
      for (int i = 0; i < 20; i++) echo.ask("x");
      Web.get(server.port(), "/");
      Patience.eventually(() -> server.stats().getFirst().answered() == 1);
      assertTrue(scope.awaitQuiescence(Patience.LONG));
      DashboardTest.advance(clock, PAUSE);
      for (int i = 0; i < 30; i++) echo.ask("x");
      assertTrue(scope.awaitQuiescence(Patience.LONG));
      clock.advance(Duration.ofSeconds(2));

      var text = statistics(dashboard);

      assertTrue(text.contains("\"perSecond\":{\"sent\":15.0,\"handled\":15.0,\"unhandled\":0.0}"), text);
      assertTrue(row(text, "echo").contains("\"handled\":50,\"perSecond\":4.2,"), text);
      assertTrue(text.matches("(?s).*\"route\":\"GET /\",\"answered\":1,\"perSecond\":0.1,.*"), text);
      assertFalse(text.contains("\"history\""), text);
    }
  }

  @Test
  void failureSoonAfterFirstSampleIsProblem() throws Exception {
    var failing = scope.named("failing").onFailure(FailurePolicy.resume().withoutLog()).newActor((String text) -> {
      throw new IllegalStateException("planned");
    });
    try (var dashboard = open(options -> options)) {
      failing.sendMessage("x");
      assertTrue(scope.awaitQuiescence(Patience.LONG));

      for (int i = 0; i < 5; i++) { // the first snapshots are too close to each other for a rate
        clock.advance(Duration.ofMillis(100));
        var text = statistics(dashboard);
        assertTrue(text.contains("\"growing\":0,\"blocked\":0,\"failed\":1}"), text);
        if (i < 4) assertTrue(text.contains("\"perSecond\":{\"sent\":null,"), text);
      }
    }
  }

  @Test
  void snapshotSoonAfterSampleIsComparedWithSampleBefore() throws Exception {
    var echo = scope.named("echo").newActorWithReturn((String text) -> text);
    try (var dashboard = open(options -> options)) {
      for (int i = 0; i < 20; i++) echo.ask("x");
      assertTrue(scope.awaitQuiescence(Patience.LONG));
      DashboardTest.advance(clock, PAUSE);
      clock.advance(Duration.ofMillis(1));

      assertTrue(row(statistics(dashboard), "echo").contains("\"handled\":20,\"perSecond\":2.0,"));
    }
  }

  @Test
  void firstSnapshotShowsGrowthAndWaitOfMailbox() throws Exception {
    var entered = new CountDownLatch(1);
    var archive = scope.named("archive").newActor((String text) -> {
      entered.countDown();
      gate.await();
    });
    archive.sendMessage("begins");
    Patience.await(entered);
    try (var dashboard = open(options -> options.withHandlingLimit(Duration.ofHours(1)))) {
      for (int i = 0; i < 8; i++) {
        for (int j = 0; j < 10; j++) archive.sendMessage("waits");
        DashboardTest.advance(clock, PAUSE);
      }

      var row = row(statistics(dashboard), "archive");

      assertTrue(row.contains("\"problems\":[\"backlogged\",\"growing\"]"), row);
      assertTrue(row.contains("\"busyMillis\":80000,\"busyExact\":false,"), row);
      assertTrue(row.contains("\"oldestMillis\":70000,"), row);
    }
  }

  @Test
  void firstEventHasCurvesOfLastTenMinutes() throws Exception {
    var echo = scope.named("echo").newActorWithReturn((String text) -> text);
    try (var dashboard = open(options -> options)) {
      for (int i = 0; i < 70; i++) {
        echo.ask("x");
        assertTrue(scope.awaitQuiescence(Patience.LONG)); // the echo counts its message when it is idle
        DashboardTest.advance(clock, PAUSE);
      }

      try (var events = Web.events(dashboard.port())) {
        var text = events.event(event -> true);

        var history = text.substring(text.indexOf("\"history\":["));
        assertEquals(TotalsHistory.MAX_POINTS, history.split("\"secondsAgo\"", -1).length - 1);
        assertTrue(history.startsWith("\"history\":[{\"secondsAgo\":590.0,\"handling\":0,\"waiting\":0,"
            + "\"perSecond\":{\"sent\":0.1,\"handled\":0.1,\"unhandled\":0.0},\"process\":{\"heapUsed\":"), history);
        clock.advance(Duration.ofSeconds(1));
        assertFalse(events.event(event -> true).contains("\"history\""));
      }
    }
  }

  @Test
  void sampleReadsNoValuesOfProgram() throws Exception {
    var reads = new AtomicInteger();
    try (var dashboard = open(options -> options.withPanel("Shop", () -> Map.of("reads", reads.incrementAndGet())))) {
      DashboardTest.advance(clock, PAUSE);
      DashboardTest.advance(clock, PAUSE);
      assertEquals(0, reads.get());

      assertTrue(statistics(dashboard).contains("\"values\":{\"reads\":1}"));
    }
  }

  @Test
  void pauseIsTwoHundredTimesAsLongAsShortestOfThreeSamples() throws Exception {
    assertPauses(100, new int[] {60, 100, 90, 110, 40}, new int[] {20, 12, 12, 12, 18});
  }

  @Test
  void stallOfOneSampleDoesNotLengthenPause() throws Exception {
    assertPauses(40, new int[] {40, 9_000, 9_000, 40}, new int[] {10, 10, 10, 10});
  }

  @Test
  void pauseIsAtMostThirtySeconds() throws Exception {
    assertPauses(5_000, new int[] {5_000, 9_000, 9_000, 100}, new int[] {30, 30, 30, 30});
  }

  /**
   * Asserts the pauses between samples.
   *
   * @param millis the lengths of the samples after the first
   * @param pauses seconds before these samples
   */
  private void assertPauses(int firstMillis, int[] millis, int[] pauses) throws Exception {
    var samples = new AtomicInteger();
    var sampleMillis = new AtomicInteger(firstMillis);
    ActorScope slowScope = Intercepted.of(ActorScope.class, scope, (method, arguments, call) -> {
      if (method.getName().equals("report")) {
        samples.incrementAndGet();
        clock.advance(Duration.ofMillis(sampleMillis.get()));
      }
      return call.pass();
    });
    var dashboard = Dashboard.open(slowScope, 0, options -> options, clock);
    DashboardTest.advance(clock, Duration.ZERO);
    assertEquals(1, samples.get());

    for (int i = 0; i < millis.length; i++) {
      sampleMillis.set(millis[i]);
      DashboardTest.advance(clock, Duration.ofSeconds(pauses[i]).minusMillis(1));
      assertEquals(i + 1, samples.get());
      DashboardTest.advance(clock, Duration.ofMillis(1));
      assertEquals(i + 2, samples.get());
    }
    dashboard.close();
  }

  @Test
  void closedScopeHasNoSamplesAndIsStillShown() throws Exception {
    var samples = new AtomicInteger();
    ActorScope countedScope = Intercepted.of(ActorScope.class, scope, (method, arguments, call) -> {
      if (method.getName().equals("report")) samples.incrementAndGet();
      return call.pass();
    });
    var entered = new CountDownLatch(1);
    var busy = scope.named("busy").newActor((String text) -> {
      entered.countDown();
      gate.await();
    });
    busy.sendMessage("x");
    Patience.await(entered);
    try (var dashboard = Dashboard.open(countedScope, 0, options -> options, clock)) {
      DashboardTest.advance(clock, Duration.ZERO);
      var closing = Patience.startFiber(scope::close);
      Patience.eventually(scope::isClosed);
      DashboardTest.advance(clock, PAUSE);
      assertEquals(2, samples.get()); // the scope still waits for its actor

      gate.countDown();
      Patience.awaitEnd(closing);
      Patience.eventually(() -> scope.actors().isEmpty());
      DashboardTest.advance(clock, PAUSE);
      assertEquals(3, samples.get());
      DashboardTest.advance(clock, Duration.ofHours(1));
      assertEquals(3, samples.get());

      try (var events = Web.events(dashboard.port())) {
        var first = events.event(text -> true);
        assertTrue(first.contains("\"closed\":true,\"sent\":1,\"handled\":1,"), first);
        clock.advance(Duration.ofSeconds(1));
        assertTrue(events.event(text -> true).contains("\"closed\":true,"));
      }
    }
  }

  @Test
  void ratesOfIdleActorsAreUnknownIfThereAreTooManyForSample() throws Exception {
    for (int i = 0; i < ScopeSnapshot.MAX_SAMPLED; i++) scope.anonymous().newActor((String text) -> {});
    var echo = scope.named("echo").newActorWithReturn((String text) -> text);
    echo.ask("x");
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    var entered = new CountDownLatch(1);
    scope.named("busy").newActor((String text) -> {
      entered.countDown();
      gate.await();
    }).sendMessage("x");
    Patience.await(entered);
    try (var dashboard = open(options -> options)) {
      DashboardTest.advance(clock, PAUSE);
      clock.advance(Duration.ofSeconds(1));

      var echoText = Web.get(dashboard.port(), "/statistics?filter=echo");
      assertTrue(echoText.contains("\"handled\":1,\"perSecond\":null,"), echoText);
      assertTrue(row(statistics(dashboard), "busy").contains("\"handled\":0,\"perSecond\":0.0,"));

      clock.advance(Duration.ofSeconds(1));
      echoText = Web.get(dashboard.port(), "/statistics?filter=echo");
      assertTrue(echoText.contains("\"handled\":1,\"perSecond\":0.0,"), echoText);
    }
  }
}
