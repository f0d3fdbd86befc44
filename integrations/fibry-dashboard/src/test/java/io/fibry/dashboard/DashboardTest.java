package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorStats.ActorState;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.DeadLetter;
import io.fibry.FailurePolicy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DashboardTest {
  private record Secret(String text) {}

  private final ActorScope scope = ActorSystem.openScope("app");
  private final CountDownLatch gate = new CountDownLatch(1);

  @AfterEach
  void close() {
    gate.countDown();
    scope.closeWithin(Duration.ZERO);
  }

  private String statistics(Dashboard dashboard) throws Exception {
    return Web.get(dashboard.port(), "/statistics");
  }

  /**
   * Sends three secrets. One actor handles the first while the second is in its mailbox, and
   * another actor fails at the third.
   */
  private void sendSecrets() throws Exception {
    var entered = new CountDownLatch(1);
    var busy = scope.named("busy").newActor((Secret secret) -> {
      entered.countDown();
      gate.await();
    });
    busy.sendMessage(new Secret("hush-1"));
    busy.sendMessage(new Secret("hush-2"));
    Patience.await(entered);
    var failing = scope.named("failing").onFailure(FailurePolicy.resume().withoutLog()).newActor((Secret secret) -> {
      throw new IllegalStateException("bad " + secret);
    });
    failing.sendMessage(new Secret("hush-3"));
    Patience.eventually(() -> !scope.deadLetters().isEmpty() && scope.report().handling() == 1); // only `busy` works
  }

  @Test
  void statisticsCountActorsAndMessagesOfInnerScopes() throws Exception {
    scope.openScope("outer").openScope("inner").named("deep").newActorWithReturn((String text) -> text).ask("one");
    assertTrue(scope.awaitQuiescence(Patience.LONG));

    try (var dashboard = Dashboard.open(scope, 0, options -> options, new ManualScheduler())) {
      var text = statistics(dashboard);

      assertTrue(
          text.contains("{\"scope\":\"app\",\"closed\":false,\"sent\":1,\"handled\":1,\"handling\":0,\"waiting\":0,"
              + "\"restarted\":0,\"suspended\":0,\"unhandled\":{"),
          text);
      assertTrue(text.contains("\"actors\":1,\"scopes\":[{\"names\":[\"app\"],\"actors\":0,"), text);
      assertTrue(text.contains("{\"names\":[\"app\",\"outer\"],\"actors\":0,"), text);
      assertTrue(text.contains("{\"names\":[\"app\",\"outer\",\"inner\"],\"actors\":1,\"waiting\":0,\"handled\":1,"),
          text);
      assertTrue(
          text.contains("\"rows\":[{\"scope\":2,\"name\":\"deep\",\"kind\":\"FIBER\",\"waiting\":0,\"handled\":1,"
              + "\"perSecond\":null,\"failed\":0,\"refused\":0,\"dropped\":0,\"busyMillis\":0,"
              + "\"busyExact\":true,\"state\":\"idle\",\"doing\":\"idle\"}]"),
          text);
    }
  }

  @Test
  void statisticsCountRestartsAndSuspendedActors() throws Exception {
    scope.named("restarts").onFailure(FailurePolicy.restart().withoutLog()).newActor((Integer number) -> {
      if (number < 0) throw new IllegalStateException("planned");
    }).sendMessage(-1);
    scope.named("waits").onFailure(FailurePolicy.restart().withBackoff(Duration.ofHours(1), Duration.ofHours(1))
        .withoutLog()).newActor((Integer number) -> {
          throw new IllegalStateException("planned");
        }).sendMessage(1);
    Patience.eventually(() -> scope.report().restarted() > 0 && scope.report().suspended() == 1
        && scope.report().unhandled().get(DeadLetter.Reason.FAILED) == 2 && scope.report().handling() == 0);

    try (var dashboard = Dashboard.open(scope, 0)) {
      var text = statistics(dashboard);
      assertTrue(text.matches("(?s).*\"name\":\"restarts\"[^}]*\"restarted\":1[,}].*"), text);

      assertTrue(text.contains("\"restarted\":" + scope.report().restarted() + ",\"suspended\":1,"), text);
    }
  }

  @Test
  void messageContentsAreHiddenByDefault() throws Exception {
    sendSecrets();

    try (var dashboard = Dashboard.open(scope, 0); var events = Web.events(dashboard.port())) {
      var text =
          statistics(dashboard) + events.event(event -> true) + Web.get(dashboard.port(), "/statistics?filter=busy");

      assertFalse(text.contains("hush"), text);
      assertTrue(text.contains("\"doing\":\"handles Secret\""), text);
      assertTrue(text.matches("(?s).*\\{\"actor\":\"failing\",\"reason\":\"failed\",\"message\":\"Secret\","
          + "\"cause\":\"IllegalStateException\",\"count\":1,\"last\":\"20[-0-9]+T[:.0-9]+Z\"}.*"), text);
    }
  }

  @Test
  void messageContentsAreShownWhenEnabled() throws Exception {
    sendSecrets();

    try (var dashboard = Dashboard.open(scope, 0, options -> options.withMessageContents())) {
      var text = statistics(dashboard);

      assertTrue(text.contains("handling Secret[text=hush-1]"), text);
      assertTrue(text.contains("\"message\":\"Secret[text=hush-3]\""), text);
      var failingText = Web.get(dashboard.port(), "/actor?scope=app&name=failing");
      assertTrue(failingText.contains("\"message\":\"bad Secret[text=hush-3]\"}"), failingText);
    }
  }

  @Test
  void stuckActorIsProblemAndHasStackWithoutContents() throws Exception {
    sendSecrets();
    Patience.eventually(() -> scope.actors().getFirst().busyFor().toMillis() > 20);

    try (var dashboard = Dashboard.open(scope, 0, options -> options.withHandlingLimit(Duration.ofMillis(20)))) {
      var text = statistics(dashboard);
      assertTrue(text.contains("\"problems\":{\"cut off\":0,\"stuck\":1,"), text);
      assertTrue(text.matches("(?s).*\"doing\":\"handles Secret\",(\"oldestMillis\":\\d+,)?"
          + "\"problems\":\\[\"stuck\"]}.*"), text);

      var actorText = Web.get(dashboard.port(), "/actor?scope=app&name=busy");

      assertTrue(actorText.contains("\"stack\":[\"") && actorText.contains("DashboardTest.java"), actorText);
      assertFalse(actorText.contains("hush"), actorText);
      var failingText = Web.get(dashboard.port(), "/actor?scope=app&name=failing");
      assertTrue(failingText.matches("(?s).*\"stack\":\\[],\"lastFailure\":\\{\"time\":\"20[-0-9]+T[:.0-9]+Z\","
          + "\"type\":\"java.lang.IllegalStateException\",\"stack\":\\[\"[^\"]*DashboardTest.java:.*]},\"history\":\\[],\"time\":\\d+}\\s*"),
          failingText);
      assertFalse(failingText.contains("hush"), failingText);
      for (var query : List.of("", "?scope=app&name=unknown", "?scope=other&name=busy"))
        assertTrue(Web.get(dashboard.port(), "/actor" + query).endsWith("\n{}\n"), query);
    }
  }

  @Test
  void handlingLimitOfZeroIsRefused() {
    var refusal = assertThrows(IllegalArgumentException.class,
        () -> DashboardOptions.DEFAULT.withHandlingLimit(Duration.ZERO));

    assertEquals("a handling limit of 0 s would make each busy actor a problem; give more than zero",
        refusal.getMessage());
  }

  @Test
  void idleActorsWithAlikeNamesAreOneGroup() throws Exception {
    for (int i = 0; i < 600; i++) scope.named("session-" + i).newActor((String text) -> {});
    sendSecrets();

    try (var dashboard = Dashboard.open(scope, 0)) {
      var text = statistics(dashboard);

      assertTrue(text.contains("\"groups\":[{\"scope\":0,\"name\":\"session-*\",\"kind\":\"FIBER\",\"actors\":600,"),
          text);
      assertTrue(text.contains("\"name\":\"failing\""), text);
      assertEquals(ActorRow.MAX_ROWS - 2, text.split("\"group\":0", -1).length - 1);
    }
  }

  private boolean hasFailed(String name) {
    return scope.actors().stream()
        .anyMatch(actor -> actor.name().equals(name) && actor.failed() == 1 && actor.lastFailure().isPresent());
  }

  @Test
  void failuresAndRefusalsBetweenSnapshotsAreProblems() throws Exception {
    var clock = new ManualScheduler();
    var entered = new CountDownLatch(1);
    var actor = scope.named("full").mailbox(Mailbox.bounded(1, Overflow.REJECT)).newActor((String text) -> {
      entered.countDown();
      gate.await();
    });
    actor.sendMessage("handled");
    Patience.await(entered);
    var failing = scope.named("failing").onFailure(FailurePolicy.resume().withoutLog()).newActor((String text) -> {
      throw new IllegalStateException("planned");
    });

    try (var dashboard = Dashboard.open(scope, 0, options -> options, clock)) {
      assertTrue(statistics(dashboard).contains("\"full\":0,\"failing\":0,"));
      actor.sendMessage("waits");
      actor.sendMessage("refused");
      failing.sendMessage("fails");
      Patience.eventually(() -> hasFailed("failing"));
      clock.advance(Duration.ofSeconds(1));

      var text = statistics(dashboard);

      assertTrue(text.contains("\"full\":1,\"failing\":0,\"expiring\":0,\"backlogged\":0,\"growing\":0,\"blocked\":0,"
          + "\"failed\":1}"), text);
      assertTrue(text.contains("\"recentFailures\":{\"actors\":1,\"failures\":1,\"millisAgo\":0,"
          + "\"inMillis\":1000,\"lastAt\":\""), text);
      assertTrue(text.contains("\"refused\":1,"), text);
      assertTrue(text.contains("\"capacity\":1,\"overflow\":\"reject\",\"problems\":[\"full\"]"), text);
    }
  }

  @Test
  void statisticsListActorsOfWaitCycle() throws Exception {
    var first = new AtomicReference<ActorWithReturn<String, String>>();
    var second = scope.named("second").newActorWithReturn((String text) -> first.get().ask(text));
    first.set(scope.named("first").newActorWithReturn((String text) -> second.ask(text)));
    first.get().sendMessage("hush");
    second.sendMessage("hush");
    Patience.eventually(() -> scope.deadLetters().size() >= 2);

    try (var dashboard = Dashboard.open(scope, 0)) {
      var text = statistics(dashboard);

      assertTrue(text.matches("(?s).*\"cycles\":\\[\\{\"names\":\\[\"first\",\"second\",\"first\"],\"count\":[12]}].*"),
          text);
    }
  }

  @Test
  void statisticsEscapeActorNamesForHtml() throws Exception {
    scope.named("<script>alert('\"')</script>").newActor((String text) -> {});

    try (var dashboard = Dashboard.open(scope, 0)) {
      var text = statistics(dashboard);

      assertTrue(text.contains("\"\\u003cscript\\u003ealert(\\u0027\\\"\\u0027)\\u003c/script\\u003e\""), text);
      assertFalse(text.contains("<"), text);
    }
  }

  @Test
  void statisticsFilterFindsActorsByNameOrScope() throws Exception {
    for (int i = 0; i < 1_000; i++) scope.named("actor-" + i).newActor((String text) -> {});
    scope.openScope("Odd").named("one").newActor((String text) -> {});

    try (var dashboard = Dashboard.open(scope, 0)) {
      var unfilteredStatistics = statistics(dashboard);
      var statisticsByName = Web.get(dashboard.port(), "/statistics?filter=ACTOR-777");
      var statisticsByScope = Web.get(dashboard.port(), "/statistics?filter=odd");

      assertTrue(unfilteredStatistics.contains("\"actors\":1001,"));
      assertEquals(ActorRow.MAX_ROWS, unfilteredStatistics.split("\"busyMillis\"", -1).length - 1);
      assertTrue(
          statisticsByName.contains("\"name\":\"actor-777\"") && statisticsByName.split("\"kind\"", -1).length == 2,
          statisticsByName);
      assertTrue(statisticsByScope.contains("\"name\":\"one\"") && statisticsByScope.split("\"kind\"", -1).length == 2,
          statisticsByScope);
    }
  }

  @Test
  void dashboardListensOnLoopbackOnly() throws Exception {
    // on Linux, a listener on all addresses accepts connections to this one, even without a network
    var otherAddresses = new ArrayList<>(List.of(InetAddress.getByName("127.0.0.2")));
    for (var network : Collections.list(NetworkInterface.getNetworkInterfaces()))
      for (var address : Collections.list(network.getInetAddresses()))
        if (!address.isLoopbackAddress()) otherAddresses.add(address);
    try (var dashboard = Dashboard.open(scope, 0)) {
      for (var address : otherAddresses) assertThrows(IOException.class, () -> {
        try (var socket = new Socket()) {
          socket.connect(new InetSocketAddress(address, dashboard.port()), 1_000);
        }
      }, address::toString);
      assertTrue(Web.get(dashboard.port(), "/").startsWith("HTTP/1.1 200"));
    }
  }

  @Test
  void openOnNetworkAddressWithoutPasswordIsRefused() throws Exception {
    var everywhere = new InetSocketAddress(0).getAddress();

    var refusal = assertThrows(IllegalArgumentException.class,
        () -> Dashboard.open(scope, 0, options -> options.withAddress(everywhere)));

    assertTrue(refusal.getMessage().contains("give withPassword"), refusal::getMessage);
    Dashboard.open(scope, 0, options -> options.withAddress(everywhere).withPassword("correct horse")).close();
  }

  @Test
  void failedOpenOnUsedPortLeavesNoScope() {
    try (var dashboard = Dashboard.open(scope, 0)) {
      assertThrows(UncheckedIOException.class, () -> Dashboard.open(scope, dashboard.port()));
    }
    // close() waits until the actors announce their end, just before they leave their scope
    Patience.eventually(() -> !ActorSystem.root().dump().contains("scope 'dashboard'"));
  }

  @Test
  void dashboardAddsNoActorsOrMessagesToObservedScope() throws Exception {
    try (var dashboard = Dashboard.open(scope, 0); var events = Web.events(dashboard.port())) {
      events.event(text -> true);

      assertTrue(scope.awaitQuiescence(Patience.LONG));
      assertEquals(0, scope.report().sent());
      assertTrue(events.event(text -> true).contains("\"actors\":0,"));
    }
  }

  @Test
  void limitOfZeroIsRefused() {
    for (UnaryOperator<DashboardOptions> change : List.<UnaryOperator<DashboardOptions>>of(
        options -> options.withWaitingLimit(Duration.ZERO), options -> options.withSlowLimit(Duration.ZERO)))
      assertTrue(assertThrows(IllegalArgumentException.class, () -> change.apply(DashboardOptions.DEFAULT)).getMessage()
          .endsWith("give more than zero"));
  }

  @Test
  void viewersShareOneSnapshotEachSecond() throws Exception {
    var clock = new ManualScheduler();
    var snapshots = new AtomicInteger();

    try (var dashboard = Dashboard.open(countingScope(snapshots), 0, options -> options, clock)) {
      advance(clock, Duration.ofMinutes(5));
      assertEquals(0, snapshots.get()); // only samples
      try (var firstViewer = Web.events(dashboard.port()); var secondViewer = Web.events(dashboard.port())) {
        firstViewer.event(text -> true);
        secondViewer.event(text -> true);
        assertEquals(1, snapshots.get());

        clock.advance(Duration.ofSeconds(1));

        assertEquals(firstViewer.event(text -> true), secondViewer.event(text -> true));
        assertEquals(2, snapshots.get());
      }
      Patience.eventually(() -> { // until the dashboard has noticed the ends of the connections
        int before = snapshots.get();
        advance(clock, Duration.ofSeconds(1));
        return snapshots.get() == before;
      });
      int snapshotsBefore = snapshots.get();
      advance(clock, Duration.ofMinutes(5));
      assertEquals(snapshotsBefore, snapshots.get());
    }
  }

  /** Advances the clock, and waits until the pulse has handled its messages. */
  static void advance(ManualScheduler clock, Duration time) {
    clock.advance(time);
    Patience.eventually(() -> ActorSystem.root().actors().stream().noneMatch(actor -> actor.name().equals("pulse")
        && (actor.queued() > 0 || actor.state() != ActorState.IDLE)));
  }

  /** Returns a proxy of the scope that counts the snapshots of its actors. */
  private ActorScope countingScope(AtomicInteger snapshots) {
    return Intercepted.of(ActorScope.class, scope, (method, arguments, call) -> {
      if (method.getName().equals("actors")) snapshots.incrementAndGet();
      return call.pass();
    });
  }

  @Test
  void ratesAreMeasuredSincePreviousRequest() throws Exception {
    var clock = new ManualScheduler();
    var echo = scope.named("echo").newActorWithReturn((String text) -> text);

    try (var dashboard = Dashboard.open(scope, 0, options -> options, clock)) {
      assertTrue(statistics(dashboard).contains("\"perSecond\":{\"sent\":null,\"handled\":null,\"unhandled\":null}"));
      for (int i = 0; i < 30; i++) echo.ask("x");
      assertTrue(scope.awaitQuiescence(Patience.LONG));
      clock.advance(Duration.ofSeconds(2));

      var text = statistics(dashboard);

      assertTrue(text.contains("\"perSecond\":{\"sent\":15.0,\"handled\":15.0,\"unhandled\":0.0}"), text);
      assertTrue(text.contains("\"handled\":30,\"perSecond\":15.0,\"failed\":0,\"refused\":0,\"dropped\":0,"), text);
    }
  }

  @Test
  void endOfScopeIsSentToViewers() throws Exception {
    try (var dashboard = Dashboard.open(scope, 0); var events = Web.events(dashboard.port())) {
      assertTrue(events.event(text -> true).contains("\"closed\":false"));

      scope.close();

      assertTrue(events.event(text -> text.contains("\"closed\":true")).contains("\"scope\":\"app\""));
    }
  }

  @Test
  void closeOfDashboardEndsEventStreams() throws Exception {
    var dashboard = Dashboard.open(scope, 0);
    try (var events = Web.events(dashboard.port())) {
      events.event(text -> true);

      dashboard.close();

      while (!events.hasEnded());
      assertFalse(scope.isClosed());
    }
  }

  @Test
  void uriHasLocalhostAndPortOfPage() throws Exception {
    try (var dashboard = Dashboard.open(scope, 0, options -> options.withAddress(InetAddress.getLoopbackAddress()))) {
      assertEquals("http://localhost:" + dashboard.port() + "/", dashboard.uri().toString());
    }
  }
}
