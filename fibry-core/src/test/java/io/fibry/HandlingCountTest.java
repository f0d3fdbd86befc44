package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope.Report;
import io.fibry.DeadLetter.Reason;
import io.fibry.mailbox.Mailbox;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.spi.MultiStepMessage;
import io.fibry.support.Patience;
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

/** A report counts a message also while a handler is at it, and never twice. */
class HandlingCountTest {
  private final List<Report> reports = new CopyOnWriteArrayList<>(); // at each dead letter
  private final ActorScope scope = ActorSystem.openScope("counted",
      options -> options.withKillGrace(Duration.ZERO).withDeadLetters(letter -> reports.add(report())));

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
  @MethodSource("io.fibry.Variants#all")
  void reportCountsCurrentAndEarlierMessages(Variants.Variant variant) {
    var actor = variant.builder(scope).newActor(Gate::passOrThrow);
    var first = Gate.occupy(actor);
    var second = new Gate();
    Patience.joined(Patience.startFiber(() -> {
      for (Object message : List.of("a", "b", second, "c")) actor.sendMessage(message);
    }));
    assertCounts(report(), 0, 1, 4);

    first.open();
    Patience.await(second.entered);

    assertCounts(report(), 3, 1, 1);
    second.open();
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertCounts(report(), 5, 0, 0);
  }

  @Promise("19.1")
  @Test
  void messagesHandledBeforeCutOffAreCounted() {
    var actor = scope.named("deaf").newActor(Gate::passOrThrow);
    var first = Gate.occupy(actor);
    var second = new Gate();
    for (Object message : List.of("a", "b", second)) actor.sendMessage(message);
    first.open();
    Patience.await(second.entered);

    var report = scope.closeWithin(Duration.ZERO);

    assertEquals(List.of("deaf"), report.unresponsive());
    assertCounts(report, 3, 1, 0);
    second.open();
    Patience.eventually(() -> report().unresponsive().isEmpty());
    assertCounts(report(), 4, 0, 0);
  }

  @Promise("19.1")
  @Test
  void failedMessageIsCountedOnceForListener() {
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
    var seen = new CopyOnWriteArrayList<Report>();
    var aside = scope.anonymous().mailbox(Mailbox.unbounded().selective())
        .newActor((Object m, ActorContext<Object> context) -> {
          context.stash();
          seen.add(report());
        });
    aside.sendMessage("aside");
    assertTrue(scope.awaitQuiescence(Patience.LONG));

    assertCounts(seen.getFirst(), 0, 0, 1);
  }

  private enum CutOff {
    THROWS_IT, THROWS_ANOTHER, RETURNS
  }

  @Promise("19.14")
  @ParameterizedTest
  @EnumSource
  void exchangeCutOffByServerCloseIsNotHandled(CutOff cutOff) throws Exception {
    var gate = new Gate();
    var routes = HttpRoutes.none().text("/quick", exchange -> "hello").text("/slow", exchange -> {
      try {
        gate.pass();
      } catch (InterruptedException end) {
        if (cutOff == CutOff.THROWS_IT) throw end;
        if (cutOff == CutOff.THROWS_ANOTHER) throw new IllegalStateException(end);
      }
      return "late";
    });
    var patient = scope.openScope("patient", options -> options.withKillGrace(Patience.LONG));
    var server = HttpServer.open(patient.anonymous(), 0, routes, o -> o);
    try (var client = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      for (var path : List.of("quick", "slow"))
        client.getOutputStream().write(("GET /" + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes());
      Patience.await(gate.entered);
      assertCounts(report(), 1, 1, 0);

      var report = patient.closeWithin(Duration.ZERO);

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
    var actor = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newActor((TenSteps steps) -> {
      assertCounts(report(), 10, 1, 0);
      throw new IOException("planned");
    });
    actor.sendMessage(new TenSteps());

    assertTrue(scope.awaitQuiescence(Patience.LONG));

    assertCounts(reports.getFirst(), 10, 0, 0);
    assertCounts(report(), 10, 0, 0);
  }

  /** What a sender sends to an actor, one message after the other, and what becomes of it. */
  private Runnable sending(int way, AtomicLong sent, int messages) {
    var ends = new AtomicLong();
    var first = new AtomicBoolean();
    var builder = scope.anonymous().mailbox(Mailbox.unbounded().selective());
    var actor = switch (way) {
      case 0 -> builder.newActor(message -> ends.incrementAndGet());
      case 1 -> builder.onFailure(FailurePolicy.resume().withoutLog()).newActor(message -> {
        ends.incrementAndGet();
        throw new IOException("planned");
      });
      case 2 -> builder.onFailure(FailurePolicy.restart().withRedelivery(1).withoutLog()).newActor(message -> {
        if (first.compareAndSet(false, true)) throw new IOException("planned");
        first.set(false);
        ends.incrementAndGet();
      });
      default -> builder.newActor((Object message, ActorContext<Object> context) -> {
        if (ends.incrementAndGet() % 2 > 0) context.stash();
        else context.unstash();
      });
    };
    return () -> {
      for (int message = 1; message <= messages; message++) {
        sent.incrementAndGet(); // before
        actor.sendMessage(message);
        int all = message;
        Patience.eventually(() -> ends.get() >= all);
      }
    };
  }

  /** A reader may miss what moves while it looks, and may count twice what comes back. */
  @Promise("19.1")
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void reportNeverCountsMoreMessagesThanWereSent(int way) {
    var sent = new AtomicLong();
    var over = new AtomicBoolean();
    var most = new ConcurrentLinkedQueue<String>();
    Runnable reading = () -> {
      while (!over.get()) {
        var report = report();
        long begun = sent.get(); // after
        if (report.handled() > begun || way < 2 && report.sent() > begun)
          most.add(report + ", but " + begun + " were sent");
      }
    };
    // Busy readers on virtual threads would occupy all carrier threads.
    var readers = List.of(Thread.ofPlatform().start(reading), Thread.ofPlatform().start(reading));
    try {
      sending(way, sent, 3_000).run();
    } finally {
      over.set(true);
      readers.forEach(Patience::joined);
    }

    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(List.of(), List.copyOf(most));
    assertEquals(sent.get(), report().sent());
    assertEquals(0, report().handling());
  }
}
