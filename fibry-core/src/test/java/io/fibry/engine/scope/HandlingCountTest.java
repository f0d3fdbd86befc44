package io.fibry.engine.scope;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorScope.Report;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.FailurePolicy;
import io.fibry.mailbox.Mailbox;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.spi.MultiStepMessage;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that a report also counts messages that are being handled, and counts no message twice. */
class HandlingCountTest {
  private final List<Report> reports = new CopyOnWriteArrayList<>(); // one for each dead letter
  private final ActorScope scope = ActorSystem.openScope("counted",
      options -> options.withKillGrace(Duration.ZERO).withDeadLetterListener(letter -> reports.add(report())));

  private Report report() {
    return scope.report();
  }

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  private static void assertCounts(Report report, long handled, long handling, long waiting) {
    assertEquals(List.of(handled, handling, waiting),
        List.of(report.handled(), report.handling(), report.queued()), report::toString);
    assertEquals(handled + handling + waiting + report.unhandled().values().stream().mapToLong(n -> n).sum(),
        report.sent());
  }

  @Promise("19.1")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void scopeReportCountsHandledCurrentAndQueuedMessages(Variants.Variant variant) {
    var actor = variant.builder(scope).newActor(Gate::passOrThrow);
    var firstGate = Gate.occupy(actor);
    var secondGate = new Gate();
    Patience.awaitEnd(Patience.startFiber(() -> {
      for (Object message : List.of("a", "b", secondGate, "c")) actor.sendMessage(message);
    }));
    assertCounts(report(), 0, 1, 4);

    firstGate.open();
    Patience.await(secondGate.entered);

    assertCounts(report(), 3, 1, 1);
    secondGate.open();
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertCounts(report(), 5, 0, 0);
  }

  @Promise("19.1")
  @Test
  void inlineRequestCountsAsBeingHandled() {
    var actor = scope.anonymous().inlineRequests().newActorWithReturn((Gate gate) -> {
      gate.passUninterruptibly();
      return "passed";
    });
    var gate = new Gate();
    var asker = Patience.startFiber(() -> actor.ask(gate));
    Patience.await(gate.entered);
    assertCounts(report(), 0, 1, 0);

    gate.open();
    Patience.awaitEnd(asker);
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertCounts(report(), 1, 0, 0);
  }

  @Promise("19.1")
  @Test
  void messagesHandledBeforeCutOffAreCounted() {
    var actor = scope.named("deaf").newActor(Gate::passOrThrow);
    var firstGate = Gate.occupy(actor);
    var secondGate = new Gate();
    for (Object message : List.of("a", "b", secondGate)) actor.sendMessage(message);
    firstGate.open();
    Patience.await(secondGate.entered);

    var report = scope.closeWithin(Duration.ZERO);

    assertEquals(List.of("deaf"), report.unresponsive());
    assertCounts(report, 3, 1, 0);
    secondGate.open();
    Patience.eventually(() -> report().unresponsive().isEmpty());
    assertCounts(report(), 4, 0, 0);
  }

  @Promise("19.1")
  @Test
  void reportReadByDeadLetterListenerCountsFailedMessageOnce() {
    var actor = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newActor(Gate::passOrThrow);
    for (Object message : List.of("a", new IOException("planned"), "b")) actor.sendMessage(message);

    assertTrue(scope.awaitQuiescence(Patience.LONG));

    assertEquals(1, reports.size());
    assertEquals(0, reports.getFirst().handling());
    assertCounts(report(), 2, 0, 0);
    assertEquals(1, report().unhandled().get(Reason.FAILED));
  }

  @Promise("19.3")
  @Test
  void stashedMessageCountsAsQueued() {
    var handlerReports = new CopyOnWriteArrayList<Report>();
    var stashingActor = scope.anonymous().mailbox(Mailbox.unbounded().selective())
        .newActor((Object m, ActorContext<Object> context) -> {
          context.stash();
          handlerReports.add(report());
        });
    stashingActor.sendMessage("stashed");
    assertTrue(scope.awaitQuiescence(Patience.LONG));

    assertCounts(handlerReports.getFirst(), 0, 0, 1);
  }

  private enum CutOff {
    THROWS_INTERRUPT, THROWS_OTHER, RETURNS
  }

  @Promise("19.14")
  @ParameterizedTest
  @EnumSource
  void exchangeCutOffByServerCloseIsNotCountedAsHandled(CutOff cutOff) throws Exception {
    var gate = new Gate();
    var routes = HttpRoutes.none().text("/quick", exchange -> "hello").text("/slow", exchange -> {
      try {
        gate.pass();
      } catch (InterruptedException interrupt) {
        if (cutOff == CutOff.THROWS_INTERRUPT) throw interrupt;
        if (cutOff == CutOff.THROWS_OTHER) throw new IllegalStateException(interrupt);
      }
      return "late";
    });
    var serverScope = scope.openScope("server", options -> options.withKillGrace(Patience.LONG));
    var server = HttpServer.open(serverScope.anonymous(), 0, routes, o -> o);
    try (var client = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      for (var path : List.of("quick", "slow"))
        client.getOutputStream().write(("GET /" + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes());
      Patience.await(gate.entered);
      assertCounts(report(), 1, 1, 0);

      var report = serverScope.closeWithin(Duration.ZERO);

      // a handler that continues may send its response before its connection is cut off
      long handled = cutOff == CutOff.RETURNS ? 2 - report.unhandled().get(Reason.FAILED) : 1;
      assertCounts(report, handled, 0, 0);
      assertEquals(2 - handled, (long) report.unhandled().get(Reason.FAILED));
    }
  }

  record TenSteps() implements MultiStepMessage {
    @Override
    public Object currentStep() {
      return "the eleventh";
    }

    @Override
    public long completedSteps() {
      return 10;
    }
  }

  @Promise("19.14")
  @Test
  void stepsOfFailedMessageCountOnce() {
    var handlerReports = new CopyOnWriteArrayList<Report>();
    var actor = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newActor((TenSteps steps) -> {
      handlerReports.add(report());
      throw new IOException("planned");
    });
    actor.sendMessage(new TenSteps());

    assertTrue(scope.awaitQuiescence(Patience.LONG));

    assertCounts(handlerReports.getFirst(), 10, 1, 0);
    assertCounts(reports.getFirst(), 10, 0, 0);
    assertCounts(report(), 10, 0, 0);
  }

  /**
   * Returns code that sends messages one after the other, and waits for each until its handler has
   * run. The kind selects an actor that handles, fails, redelivers or stashes messages.
   */
  private Runnable sender(int kind, AtomicLong sent, int messages) {
    var endCount = new AtomicLong();
    var failedOnce = new AtomicBoolean();
    var builder = scope.anonymous().mailbox(Mailbox.unbounded().selective());
    var actor = switch (kind) {
      case 0 -> builder.newActor(message -> endCount.incrementAndGet());
      case 1 -> builder.onFailure(FailurePolicy.resume().withoutLog()).newActor(message -> {
        endCount.incrementAndGet();
        throw new IOException("planned");
      });
      case 2 -> builder.onFailure(FailurePolicy.restart().withRedelivery(1).withoutLog()).newActor(message -> {
        if (failedOnce.compareAndSet(false, true)) throw new IOException("planned");
        failedOnce.set(false);
        endCount.incrementAndGet();
      });
      default -> builder.newActor((Object message, ActorContext<Object> context) -> {
        if (endCount.incrementAndGet() % 2 > 0) context.stash();
        else context.unstash();
      });
    };
    return () -> {
      for (int message = 1; message <= messages; message++) {
        sent.incrementAndGet(); // counted before the send
        actor.sendMessage(message);
        int expectedEnds = message;
        Patience.eventually(() -> endCount.get() >= expectedEnds);
      }
    };
  }

  /**
   * A report may miss messages that move while the report is made, but must not count a message
   * twice.
   */
  @Promise("19.1")
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void reportNeverCountsMoreMessagesThanWereSent(int kind) {
    var sent = new AtomicLong();
    var senderDone = new AtomicBoolean();
    var violations = new ConcurrentLinkedQueue<String>();
    Runnable reader = () -> {
      while (!senderDone.get()) {
        var report = report();
        long sentCount = sent.get(); // read after the report
        if (report.handled() > sentCount || kind < 2 && report.sent() > sentCount)
          violations.add(report + ", but " + sentCount + " were sent");
      }
    };
    // Busy readers on virtual threads would occupy all carrier threads.
    var readers = List.of(Thread.ofPlatform().start(reader), Thread.ofPlatform().start(reader));
    try {
      sender(kind, sent, 3_000).run();
    } finally {
      senderDone.set(true);
      readers.forEach(Patience::awaitEnd);
    }

    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(List.of(), List.copyOf(violations));
    assertEquals(sent.get(), report().sent());
    assertEquals(0, report().handling());
  }
}
