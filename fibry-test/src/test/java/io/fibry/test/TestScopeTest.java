package io.fibry.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Patience;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TestScopeTest {
  private static final Duration SHORT_LIMIT = Duration.ofMillis(20);
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final List<Object> log = new CopyOnWriteArrayList<>();
  private final CompletableFuture<Void> gate = new CompletableFuture<>();
  private final CountDownLatch handlerStart = new CountDownLatch(1);

  @AfterEach
  void openGate() {
    gate.complete(null);
  }

  /** Creates an actor whose handler waits for the gate. An interrupt ends the wait. */
  private Actor<String> waitingActor(TestScope scope) {
    return scope.named("clerk").newActor((String message) -> {
      handlerStart.countDown();
      gate.get();
    });
  }

  /** Creates an actor whose handler waits for the gate. The wait ignores interrupts. */
  private Actor<String> uninterruptibleActor(TestScope scope) {
    return scope.named("clerk").newActor((String message) -> {
      handlerStart.countDown();
      gate.join();
    });
  }

  private static Actor<String> failingActor(ActorBuilder<Object> builder) {
    return builder.onFailure(FailurePolicy.resume().withoutLog()).newActor((String message) -> {
      throw new IllegalStateException("planned");
    });
  }

  private static String failureOf(Runnable assertion) {
    return assertThrows(AssertionError.class, assertion::run).getMessage();
  }

  /** Returns the failure of an assertion that waits in vain. The wait has a short limit. */
  private static String failureAfterWait(TestScope scope, Runnable assertion) {
    scope.limit = SHORT_LIMIT;
    try {
      return failureOf(assertion);
    } finally {
      scope.limit = TestScope.LIMIT;
    }
  }

  private static void assertContains(String part, String text) {
    assertTrue(text.contains(part), () -> "'" + part + "' is not in: " + text);
  }

  @Test
  void callerScopeHandlesMessageBeforeSendReturns() {
    try (var scope = TestScope.caller()) {
      scope.anonymous().newActor((String message) -> log.add(Thread.currentThread())).sendMessage("now");

      assertEquals(List.of(Thread.currentThread()), log);
    }
  }

  @Test
  void advanceOnFibersWaitsForTriggeredWork() {
    try (var scope = TestScope.fibers()) {
      scope.anonymous().newActor((String message) -> log.add(message)).sendMessageEvery("tick", SECOND);

      for (int second = 0; second < 3; second++) scope.advance(SECOND);

      assertEquals(List.of("tick", "tick", "tick"), log);
    }
  }

  @Test
  void openedTestScopeKeepsOptionsExceptScheduler() {
    var mailbox = Mailbox.bounded(7, Overflow.REJECT);
    try (var scope = TestScope.open("mine", o -> o.withScheduler(Scheduler.system()).withMailbox(mailbox))) {
      assertEquals("mine", scope.name());
      assertSame(scope.clock(), BlockBuilder.of(scope.anonymous()).scheduler());
      assertSame(mailbox, BlockBuilder.of(scope.anonymous()).mailbox());
    }
  }

  @Test
  void testScopeFindsReportsAndEndsActorsLikeOrdinaryScope() {
    Actor<String> deepActor;
    try (var scope = TestScope.fibers()) {
      var clerk = scope.named("clerk").protocol(String.class).newActor((String message) -> {});
      deepActor = scope.openScope("nested").openScope("deeper", o -> o).anonymous()
          .newActor((String message) -> log.add(message));
      deepActor.sendMessage("hello");

      assertEquals(Optional.of(clerk), scope.find("clerk", String.class));
      assertTrue(scope.awaitQuiescence(TestScope.LIMIT));
      assertEquals(1, scope.report().handled());
      assertContains("clerk", scope.dump());
    }
    assertTrue(deepActor.onExit().isDone());
  }

  @Test
  void assertQuietFailureShowsStateOfEachActor() {
    try (var scope = TestScope.fibers()) {
      waitingActor(scope).sendMessage("wait");

      var text = failureAfterWait(scope, scope::assertQuiet);

      assertEquals("scope 'test' did not become quiet within " + TestScope.format(SHORT_LIMIT)
          + " (release what its handlers wait for, or move the time by clock().advance(..)):",
          text.lines().findFirst().orElseThrow());
      assertContains("clerk (FIBER)", text);
      gate.complete(null);
    }
  }

  @Test
  void advanceFailsWithUnmovedClockWhileHandlerIsBlocked() {
    try (var scope = TestScope.fibers()) {
      scope.anonymous().newActor((String message) -> log.add(message)).sendMessageLater("due", SECOND);
      waitingActor(scope).sendMessage("wait");

      var text = failureAfterWait(scope, () -> scope.advance(SECOND.multipliedBy(2)));

      assertEquals(failureAfterWait(scope, scope::assertQuiet).lines().findFirst(), text.lines().findFirst());
      assertContains("clerk (FIBER)", text);
      assertEquals(0, scope.clock().nanoTime());
      scope.clock().advance(SECOND); // as the text advises
      assertEquals(SECOND.toNanos(), scope.clock().nanoTime());
      gate.complete(null);
      scope.advance(Duration.ZERO);
      assertEquals(List.of("due"), log);
    }
  }

  @Test
  void advanceFailsAtTimeAtWhichHandlerBlocks() {
    try (var scope = TestScope.fibers()) {
      scope.anonymous().newActor((String message) -> log.add(message)).sendMessageEvery("tick", SECOND);
      waitingActor(scope).sendMessageLater("wait", SECOND.multipliedBy(2));
      scope.advance(SECOND);

      var text = failureAfterWait(scope, () -> scope.advance(SECOND.multipliedBy(3)));

      assertContains("clerk (FIBER)", text);
      assertEquals(SECOND.multipliedBy(2).toNanos(), scope.clock().nanoTime());
      gate.complete(null);
      scope.advance(SECOND.multipliedBy(2));
      assertEquals(List.of("tick", "tick", "tick", "tick"), log);
    }
  }

  @Test
  void assertNoDeadLettersFailureNamesDeadLetters() {
    try (var scope = TestScope.fibers()) {
      failingActor(scope.named("kitchen")).sendMessage("soup");

      var failure = assertThrows(AssertionError.class, scope::assertNoDeadLetters);

      assertContains(
          "scope 'test' has dead letters that the test did not expect: [dead letter to 'kitchen', FAILED: \"soup\"]",
          failure.getMessage());
      assertEquals("planned", failure.getCause().getMessage());
    }
  }

  @Test
  void expectedDeadLetterIsNoFailure() {
    try (var scope = TestScope.fibers()) {
      failingActor(scope.openScope("nested").anonymous()).sendMessage("soup");

      var letter = scope.assertDeadLetter(Reason.FAILED, "soup");

      assertInstanceOf(IllegalStateException.class, letter.cause().orElseThrow());
      assertEquals(List.of(letter), scope.deadLetters());
      scope.assertNoDeadLetters();
    }
  }

  @Test
  void assertDeadLetterConsumesOneOfTwoEqualDeadLetters() {
    try (var scope = TestScope.fibers()) {
      var kitchen = failingActor(scope.anonymous());
      kitchen.sendMessages(List.of("soup", "soup"));

      scope.assertDeadLetter(Reason.FAILED, "soup");

      failureOf(scope::assertNoDeadLetters);
      scope.assertDeadLetter(Reason.FAILED, "soup");
      scope.assertNoDeadLetters();
    }
  }

  @Test
  void assertDeadLetterFailureNamesActualDeadLetters() {
    try (var scope = TestScope.fibers()) {
      failingActor(scope.named("kitchen")).sendMessage("soup");

      var text = failureOf(() -> scope.assertDeadLetter(Reason.REJECTED, "soup"));

      assertContains(
          "scope 'test' has no dead letter REJECTED: \"soup\"; its dead letters: [dead letter to 'kitchen', FAILED: \"soup\"]",
          text);
    }
  }

  @Test
  void closeEndsIdleActorsAfterPendingMessages() {
    var scope = TestScope.fibers();
    var clerk = scope.anonymous().newActor((String message) -> log.add(message));
    clerk.sendMessage("last");

    scope.close();

    assertEquals(List.of("last"), log);
    assertInstanceOf(ExitReason.Stopped.class, Patience.value(clerk.onExit()));
  }

  @Test
  void closeFailsWhenActorHadToBeInterrupted() {
    var scope = TestScope.open("test", options -> options.withKillGrace(Patience.LONG));
    var clerk = waitingActor(scope);
    clerk.sendMessage("wait");
    Patience.await(handlerStart);

    var text = failureAfterWait(scope, scope::close);

    assertContains("scope 'test' did not end by itself within " + TestScope.format(SHORT_LIMIT), text);
    assertContains("handlers that still run: []; before the interrupt:\n", text);
    assertContains("clerk (FIBER)", text);
    assertTrue(clerk.onExit().isDone());
  }

  @Test
  void exceptionOfCloseNamesHandlerThatIgnoresInterrupt() {
    var scope = TestScope.fibers();
    uninterruptibleActor(scope).sendMessage("wait");
    Patience.await(handlerStart);

    assertContains("handlers that still run: [clerk]", failureAfterWait(scope, scope::close));
  }

  @Test
  void exceptionOfCloseNamesKilledActorThatStillRuns() {
    var scope = TestScope.open("test", o -> o.withKillGrace(Duration.ZERO));
    var clerkStart = new CompletableFuture<Void>();
    var clerk = scope.named("clerk").newActor((String message) -> {
      clerkStart.complete(null);
      gate.join();
    });
    clerk.sendMessage("wait");
    Patience.value(clerkStart);
    clerk.kill();
    scope.clock().advance(Duration.ZERO);
    Patience.awaitEnd(clerk::waitForExit);

    assertContains("handlers that still run: [clerk]", failureAfterWait(scope, scope::close));
  }

  @Test
  void reportOfCloseWithinHasUndeliveredMessage() {
    var scope = TestScope.fibers();
    var clerk = waitingActor(scope);
    clerk.sendMessages(List.of("wait", "never begun"));

    var report = scope.closeWithin(Duration.ofMillis(1));

    assertTrue(report.deadLetters().stream().anyMatch(letter -> letter.message().equals("never begun")),
        report.toString());
    assertFalse(clerk.sendMessage("too late"));
  }

  @Test
  void invalidPropertyOfLimitIsRefused() {
    assertEquals(Duration.ofSeconds(20), TestScope.limitOf("20"));
    for (var text : List.of("20s", "0", "-1", "", " 5"))
      assertEquals("-Dfibry.test.limit=" + text + " is not a number of seconds; give 1 or more",
          assertThrows(IllegalArgumentException.class, () -> TestScope.limitOf(text)).getMessage());
  }
}
