package io.fibry.engine.scope;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorScope.Report;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.support.Child;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests the close of a scope. {@code ScopeCloserCornerTest} tests rarer cases. The clock is manual,
 * so a close that waits for its limit hangs until the test advances the clock.
 */
class ScopeCloseTest {
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("shop", o -> o.withScheduler(clock));
  private final List<Object> log = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    clock.advance(Duration.ofDays(1));
  }

  private Actor<Object> actor(ActorScope owner, String name) {
    return owner.named(name).onFailure(FailurePolicy.resume().withoutLog()).newActor((Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      else if (m instanceof Exception failure) throw failure;
      else log.add(m);
    });
  }

  private CompletableFuture<Report> startClose(Duration limit) {
    var report = new CompletableFuture<Report>();
    var closer = Patience.startFiber(() -> scope.closeWithin(limit), report);
    Patience.eventually(() -> !closer.isAlive() || Patience.isParked(closer) && hasTimer(limit));
    return report;
  }

  /**
   * Returns whether the close has set the timer for its limit, so that the test may advance the
   * clock.
   */
  private boolean hasTimer(Duration limit) {
    return limit.isZero() || clock.untilNext().isPresent();
  }

  @Promise("16.4")
  @Test
  void closeHandlesQueuedMessagesBeforeActorsEnd() {
    var actor = actor(scope, "clerk");
    for (int i = 0; i < 100; i++) actor.sendMessage(i);

    scope.close();

    assertEquals(IntStream.range(0, 100).boxed().toList(), log);
  }

  @Promise("16.4")
  @Test
  void actorsEndInReverseCreationOrder() {
    actor(scope, "a").closeOnExit(() -> log.add("a"));
    var inner = scope.openScope("inner");
    actor(inner, "b").closeOnExit(() -> log.add("b"));
    actor(scope, "c").closeOnExit(() -> log.add("c"));
    actor(inner, "d").closeOnExit(() -> log.add("d"));

    scope.close();

    assertEquals(List.of("c", "d", "b", "a"), log);
  }

  @Promise("16.4")
  @Test
  void olderActorAnswersUntilYoungerActorsEnded() {
    var book = scope.anonymous().newActorWithReturn((String m) -> "book of " + m);
    var gate = new Gate();
    var clerk = scope.anonymous().newActor((Object m) -> {
      gate.pass();
      log.add(book.ask("orders"));
    });
    clerk.sendMessage("work");
    Patience.await(gate.entered);
    var report = startClose(Duration.ofSeconds(1));

    gate.open();

    Patience.value(report);
    assertEquals(List.of("book of orders"), log);
  }

  @Promise("16.4")
  @Test
  void actorsOfClosedScopeEndAsStopped() {
    var actor = actor(scope, "clerk");

    scope.close();

    assertEquals(new ExitReason.Stopped(), actor.onExit().join());
  }

  @Promise("16.5")
  @Test
  void closeLimitHoldsForWholeScopeTree() {
    var inner = scope.openScope("inner");
    var gates = List.of(Gate.occupy(actor(scope, "a")), Gate.occupy(actor(inner, "b")), Gate.occupy(actor(scope, "c")));
    var report = startClose(Duration.ofSeconds(10));
    clock.advance(Duration.ofSeconds(9));
    boolean doneBeforeLimit = report.isDone();

    clock.advance(Duration.ofSeconds(1));

    // the close interrupted all three handlers
    assertEquals(3, Patience.value(report).unhandled().get(Reason.FAILED));
    assertFalse(doneBeforeLimit);
    assertEquals(3, gates.size());
  }

  @Promise("16.6")
  @Test
  void closeReportCountsHandledAndFailedMessages() {
    var actor = actor(scope, "clerk");
    for (int i = 0; i < 5; i++) actor.sendMessage(i);
    actor.sendMessage(new IllegalStateException("planned"));

    var report = scope.closeWithin(Patience.LONG);

    assertEquals(5, report.handled());
    assertEquals(1, report.unhandled().get(Reason.FAILED));
    assertEquals(6, report.sent());
    assertEquals("shop", report.scope());
  }

  @Promise("16.6")
  @Test
  void closeReportListsUndeliveredMessages() {
    var clerk = actor(scope, "clerk");
    Gate.occupy(clerk);
    clerk.sendMessage(1);
    clerk.sendMessage(2);
    var innerActor = actor(scope.openScope("inner"), "below");
    Gate.occupy(innerActor);
    innerActor.sendMessage(3);

    var report = scope.closeWithin(Duration.ZERO);

    var undelivered = report.deadLetters().stream().filter(l -> l.reason() == Reason.UNDELIVERED)
        .map(l -> l.actor() + " " + l.message()).sorted().toList();
    assertEquals(List.of("below 3", "clerk 1", "clerk 2"), undelivered);
    assertEquals(3, report.unhandled().get(Reason.UNDELIVERED));
  }

  @Promise("16.7")
  @Test
  void closeReportListsUnresponsiveActor() {
    var deafActor = scope.named("deaf").newActor((Gate gate) -> gate.passUninterruptibly());
    var gate = new Gate();
    deafActor.sendMessage(gate);
    deafActor.sendMessage(new Gate());
    Patience.await(gate.entered);
    var pendingReport = startClose(Duration.ZERO);

    clock.advance(Duration.ofSeconds(1)); // the kill grace

    var report = Patience.value(pendingReport);
    assertEquals(List.of("deaf"), report.unresponsive());
    assertEquals(1, report.queued());
  }

  @Promise("16.7")
  @Test
  void unresponsiveActorIsForgottenOnceHandlerReturns() {
    var deafActor = scope.named("deaf").newActor((Gate gate) -> gate.passUninterruptibly());
    var gate = new Gate();
    deafActor.sendMessage(gate);
    Patience.await(gate.entered);
    var pendingReport = startClose(Duration.ZERO);
    clock.advance(Duration.ofSeconds(1));
    Patience.value(pendingReport);
    boolean dumpedWhileRunning = Scopes.isInRoot(scope) && scope.dump().contains("deaf");

    gate.open();

    Patience.eventually(() -> !Scopes.isInRoot(scope));
    assertTrue(dumpedWhileRunning);
    assertEquals(List.of(), scope.report().unresponsive());
  }

  @Promise("16.3")
  @Test
  void closingScopeRefusesNewActorsAndScopes() {
    var inner = scope.openScope("inner");
    var gate = Gate.occupy(actor(scope, "clerk"));
    var report = startClose(Duration.ofSeconds(1));

    for (var closingScope : List.of(scope, inner)) {
      assertThrows(IllegalStateException.class, () -> actor(closingScope, "late"));
      assertThrows(IllegalStateException.class, () -> closingScope.openScope("late"));
    }

    gate.open();
    Patience.value(report);
    assertThrows(IllegalStateException.class, () -> inner.anonymous().newSink());
  }

  @Promise("16.9")
  @Test
  void scopeClosedByItsOwnActorEndsAllOtherActors() {
    var otherActor = actor(scope, "other");
    otherActor.sendMessage("before");
    var closer = scope.named("closer").newActor((Object m) -> {
      scope.closeWithin(Patience.LONG);
      log.add(otherActor.onExit().isDone());
    });
    closer.sendMessage("close");
    closer.sendMessage("never handled");

    Patience.awaitEnd(closer::waitForExit);

    assertEquals(List.of("before", true), log);
    assertEquals(new ExitReason.Stopped(), closer.onExit().join());
  }

  @Promise("16.9")
  @Test
  void scopeClosedByActorOfInnerScopeEndsAllOtherActors() {
    var inner = scope.openScope("inner");
    var otherActors = List.of(actor(scope, "a"), actor(inner, "b"), actor(inner.openScope("innermost"), "c"));
    var closer = inner.named("closer").newActor((Object m) -> {
      scope.closeWithin(Patience.LONG);
      otherActors.forEach(actor -> log.add(actor.onExit().isDone()));
    });

    closer.sendMessage("close");

    Patience.awaitEnd(closer::waitForExit);
    assertEquals(List.of(true, true, true), log);
  }

  @Promise("16.9")
  @Test
  void scopeClosedByExitHookOfItsActorEndsAllOtherActors() {
    var otherActor = actor(scope, "other");
    var closer = actor(scope, "closer").closeOnExit(() -> {
      scope.closeWithin(Patience.LONG);
      log.add(otherActor.onExit().isDone());
    });

    closer.askExit();

    Patience.awaitEnd(closer::waitForExit);
    assertEquals(List.of(true), log);
  }

  @Promise("16.10")
  @Test
  void askerOfActorThatClosesScopeGetsStoppedException() {
    var gate = new Gate();
    var closer = scope.anonymous().newActorWithReturn((Object m) -> {
      gate.pass();
      return scope.closeWithin(Patience.LONG);
    });
    var closeReport = closer.sendMessageReturn("close");
    Patience.await(gate.entered);
    var requestSent = new CountDownLatch(1);
    var failure = new CompletableFuture<Throwable>();
    scope.anonymous().newActor((Object m) -> {
      var answer = closer.sendMessageReturn("never handled");
      requestSent.countDown();
      failure.complete(Patience.failure(answer));
    }).sendMessage("ask");
    Patience.await(requestSent);

    gate.open();

    assertInstanceOf(ActorStoppedException.class, Patience.value(failure));
    assertEquals("shop", Patience.value(closeReport).scope());
  }

  @Promise("16.11")
  @Test
  void secondCloseReturnsReportOfFirstClose() {
    var gate = Gate.occupy(actor(scope, "clerk"));
    var first = startClose(Duration.ofSeconds(10));
    var second = startClose(Duration.ZERO);
    boolean secondWaited = !second.isDone();

    gate.open();

    assertSame(Patience.value(first), Patience.value(second));
    assertTrue(secondWaited);
    assertSame(Patience.value(first), scope.closeWithin(Duration.ZERO));
  }

  @Promise("16.12")
  @Test
  void interruptedCloseStillClosesScope() {
    var clerk = actor(scope, "clerk");
    Gate.occupy(clerk);
    var interruptFlag = new CompletableFuture<Boolean>();
    var closer = Patience.startFiber(() -> {
      assertThrows(CancellationException.class, () -> scope.closeWithin(Duration.ofDays(1)));
      return Thread.currentThread().isInterrupted();
    }, interruptFlag);
    Patience.awaitParked(closer);

    closer.interrupt();

    assertTrue(Patience.value(interruptFlag), "the interrupt flag is lost");
    assertTrue(clerk.onExit().isDone());
  }

  @Promise("16.12")
  @Test
  void interruptedSecondCloseThrowsAndFirstCloseContinues() {
    var gate = Gate.occupy(actor(scope, "clerk"));
    var first = startClose(Duration.ofDays(1));
    var interruptFlag = new CompletableFuture<Boolean>();
    var second = Patience.startFiber(() -> {
      assertThrows(CancellationException.class, scope::close);
      return Thread.currentThread().isInterrupted();
    }, interruptFlag);
    Patience.awaitParked(second);

    second.interrupt();

    assertTrue(Patience.value(interruptFlag), "the interrupt flag is lost");
    assertFalse(first.isDone());
    gate.open();
    Patience.value(first);
  }

  @Promise("16.6")
  @Test
  void closeLogsUndeliveredMessagesButCloseWithinDoesNot() {
    var texts = new ArrayList<String>();
    for (boolean reportIsReturned : List.of(true, false)) {
      var kiosk = ActorSystem.openScope("kiosk", o -> o.withDrainLimit(Duration.ZERO).withKillGrace(Patience.LONG));
      var clerk = actor(kiosk, "clerk");
      Gate.occupy(clerk);
      clerk.sendMessage("left behind");
      try (var logged = new Logged()) {
        if (reportIsReturned) kiosk.closeWithin(Duration.ZERO);
        else kiosk.close();
        texts.add(logged.text());
      }
    }

    assertFalse(texts.get(0).contains("left behind"), texts.get(0));
    assertTrue(texts.get(1).contains("left behind") && texts.get(1).contains("kiosk"), texts.get(1));
  }

  /** A program whose shutdown hook closes a scope in which a message waits. */
  static final class Shop {
    public static void main(String[] args) {
      var shop = ActorSystem.openScope("shop");
      var clerk = shop.anonymous().newActor((Object m) -> System.out.println("handled " + m));
      Runtime.getRuntime().addShutdownHook(new Thread(() -> {
        clerk.sendMessage("the last order");
        System.out.println("undelivered " + shop.closeWithin(Patience.LONG).deadLetters().size());
      }));
      System.out.println("open");
      clerk.waitForExit();
    }
  }

  @Promise("16.13")
  @Test
  @Tag("jdk-scheduler") // starts a JVM in which java.lang is closed
  void shutdownHookCanCloseScope() throws Exception {
    try (var child = Child.java(List.of(), Shop.class)) {
      child.awaitLine("open");

      child.terminate();

      assertEquals("open\nhandled the last order\nundelivered 0", child.awaitExit(143));
    }
  }
}
