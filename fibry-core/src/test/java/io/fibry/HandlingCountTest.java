package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope.Report;
import io.fibry.DeadLetter.Reason;
import io.fibry.mailbox.Mailbox;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.support.Patience;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A report counts a message also while a handler is at it, and never twice. */
class HandlingCountTest {
  private final List<Report> reports = new CopyOnWriteArrayList<>(); // at each dead letter
  private final ActorScope scope = ActorSystem.openScope("counted",
      options -> options.withGrace(Duration.ZERO).withDeadLetters(letter -> reports.add(report())));

  private Report report() {
    return scope.report();
  }

  @AfterEach
  void letGo() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  private static void handle(Object message) throws Exception {
    if (message instanceof Gate gate) gate.passDeaf();
    if (message instanceof Exception failure) throw failure;
  }

  private static void assertCounts(Report report, long handled, long handling, long waiting) {
    assertEquals(List.of(handled, handling, waiting),
        List.of(report.handled(), report.handling(), report.waiting()), report::toString);
    assertEquals(handled + handling + waiting + report.unhandled().values().stream().mapToLong(n -> n).sum(),
        report.sent());
  }

  @Promise("19.1")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#all")
  void theMessageThatIsHandledAndThoseBeforeItCount(Variants.Variant variant) {
    var actor = variant.builder(scope).newActor(HandlingCountTest::handle);
    var first = Gate.occupy(actor);
    var second = new Gate();
    Patience.joined(Patience.elsewhere(() -> {
      for (Object message : List.of("a", "b", second, "c")) actor.sendMessage(message);
    }));
    assertCounts(report(), 0, 1, 4);

    first.open();
    Patience.await(second.entered);

    assertCounts(report(), 3, 1, 1);
    second.open();
    assertTrue(scope.awaitQuiet(Patience.LONG));
    assertCounts(report(), 5, 0, 0);
  }

  @Promise("19.1")
  @Test
  void whatAnActorHandledBeforeItWasCutOffCounts() {
    var actor = scope.named("deaf").newActor(HandlingCountTest::handle);
    var first = Gate.occupy(actor);
    var second = new Gate();
    for (Object message : List.of("a", "b", second)) actor.sendMessage(message);
    first.open();
    Patience.await(second.entered);

    var report = scope.closeWithin(Duration.ZERO);

    assertEquals(List.of("deaf"), report.running());
    assertCounts(report, 3, 1, 0);
    second.open();
    Patience.eventually(() -> report().running().isEmpty());
    assertCounts(report(), 4, 0, 0);
  }

  @Promise("19.1")
  @Test
  void whatFailsIsCountedOnceForItsListener() {
    var actor = scope.anonymous().onFailure(FailurePolicy.goOn().withoutLog()).newActor(HandlingCountTest::handle);
    for (Object message : List.of("a", new IOException("planned"), "b")) actor.sendMessage(message);

    assertTrue(scope.awaitQuiet(Patience.LONG));

    assertEquals(1, reports.size());
    assertEquals(0, reports.getFirst().handling());
    assertCounts(report(), 2, 0, 0);
    assertEquals(1, report().unhandled().get(Reason.FAILED));
  }

  @Promise("19.3")
  @Test
  void whatWasPutAsideOrIsGivenAgainWaits() {
    var seen = new CopyOnWriteArrayList<Report>();
    var aside = scope.anonymous().mailbox(Mailbox.unbounded().selective())
        .newActor((Object m, ActorContext<Object> context) -> {
          context.stash();
          seen.add(report());
        });
    aside.sendMessage("aside");
    assertTrue(scope.awaitQuiet(Patience.LONG));

    assertCounts(seen.getFirst(), 0, 0, 1);
  }

  @Promise("19.14")
  @Test
  void anExchangeThatTheEndOfItsServerCutsOffWasNotHandled() throws Exception {
    var gate = new Gate();
    var routes = HttpRoutes.none().text("/quick", exchange -> "hello").text("/slow", exchange -> {
      gate.pass();
      return "late";
    });
    var patient = scope.openScope("patient", options -> options.withGrace(Patience.LONG));
    var server = HttpServer.open(patient.anonymous(), 0, routes, o -> o);
    try (var client = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      for (var path : List.of("quick", "slow"))
        client.getOutputStream().write(("GET /" + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes());
      Patience.await(gate.entered);
      assertCounts(report(), 1, 1, 0);

      var report = patient.closeWithin(Duration.ZERO);

      assertCounts(report, 1, 0, 0);
      assertEquals(1, report.unhandled().get(Reason.FAILED));
    }
  }

  /** A reader may miss what moves while it looks, but counts nothing twice. */
  @Promise("19.1")
  @Test
  void atNoMomentAreThereMoreThanWereSent() {
    long seed = StressHarness.seed();
    System.out.println("reports of busy scopes: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    var sent = new AtomicLong();
    var turns = new AtomicLong();
    var actors = IntStream.range(0, 3).mapToObj(i -> scope.anonymous().mailbox(Mailbox.unbounded().selective())
        .onFailure(FailurePolicy.restart().withoutLog()).newActor((Integer kind, ActorContext<Integer> context) -> {
          if (kind == 0) throw new IOException("planned");
          if (kind == 1 && turns.incrementAndGet() % 4 > 0) context.stash();
          if (kind == 2) context.unstash();
        })).toList();
    var over = new AtomicBoolean();
    var senders = IntStream.range(0, 2).mapToObj(i -> random.split()).map(own -> Patience.elsewhere(() -> {
      for (int message = 0; message < 20_000; message++) {
        sent.incrementAndGet(); // before
        actors.get(own.nextInt(3)).sendMessage(own.nextInt(12));
      }
    })).toList();
    var reader = Patience.elsewhere(() -> {
      while (!over.get()) {
        var report = report();
        long most = sent.get(); // after
        if (report.sent() > most) throw new AssertionError(report + ", but " + most + " were sent");
      }
    });
    for (var sender : senders) Patience.joined(sender);
    over.set(true);
    Patience.joined(reader);

    assertTrue(scope.awaitQuiet(Patience.LONG));
    assertEquals(sent.get(), report().sent());
    assertEquals(0, report().handling());
  }
}
