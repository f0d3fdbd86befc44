package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.DeadLetter.Reason;
import io.fibry.engine.scope.Scopes;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests dead letters, which are messages that no handler finished. {@code MailboxesTest} tests
 * their reasons for each mailbox.
 */
class DeadLetterTest {
  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope = Variants.scope(letters);
  private final ActorBuilder<Object> builder =
      scope.named("dead").strategy(Strategy.CALLER).onFailure(FailurePolicy.resume().withoutLog());

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  @Promise("3.3")
  @Test
  void deadLetterOfFailureHasActorMessageAndCause() {
    var failure = new IllegalStateException("bad");
    var actor = builder.newActor((Object m) -> {
      throw failure;
    });

    actor.sendMessage("message");

    var letter = letters.all.getFirst();
    assertEquals(List.of("dead", "message", Reason.FAILED), List.of(letter.actor(), letter.message(), letter.reason()));
    assertSame(failure, letter.cause().orElseThrow());
    assertEquals("dead letter to 'dead', FAILED: \"message\"", letter.toString());
  }

  /** A request is unhandled, but its asker knows that, so it is no dead letter. */
  @Promise("19.27")
  @Test
  void reportCountsDeadLettersApartFromRequests() {
    var clock = new ManualScheduler();
    clock.advance(Duration.ofMinutes(1));
    var inner = scope.openScope("inner", options -> options.withScheduler(clock));
    var actor = inner.named("dead").onFailure(FailurePolicy.resume().withoutLog()).newActorWithReturn((Object m) -> {
      throw new IllegalStateException("bad");
    });
    assertEquals(Optional.empty(), inner.report().lastDeadLetter());
    assertThrows(IllegalStateException.class, () -> actor.ask("a request"));
    assertEquals(0, inner.report().deadLetterCounts().get(Reason.FAILED));
    var time = clock.instant();
    for (int i = 0; i < 3; i++) actor.sendMessage(i);
    assertTrue(inner.awaitQuiescence(Patience.LONG));
    clock.advance(Duration.ofMinutes(1));

    for (var report : List.of(inner.report(), scope.report())) {
      assertEquals(List.of(3L, 4L),
          List.of(report.deadLetterCounts().get(Reason.FAILED), report.unhandled().get(Reason.FAILED)));
      assertEquals(Optional.of(time), report.lastDeadLetter());
    }
  }

  /** A timer that an ended actor has left is no loss, so it must not look like the last one. */
  @Promise("19.27")
  @Test
  void cancelledTimerDoesNotChangeTimeOfLastDeadLetter() {
    var actor = scope.named("ends").newActor((Object message) -> {});
    actor.sendMessageLater("later", Duration.ofDays(1));

    actor.close();

    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(1, scope.report().deadLetterCounts().get(Reason.TIMER_CANCELLED));
    assertEquals(Optional.empty(), scope.report().lastDeadLetter());
  }

  @Promise("19.4")
  @Test
  void deadLetterHasTimeByClockOfItsScope() {
    var clock = new ManualScheduler();
    var timedScope = ActorSystem.openScope("timed", options -> options.withScheduler(clock));
    var actor = timedScope.named("dead").newActor((Object m) -> {});
    actor.close();
    clock.advance(Duration.ofHours(1));
    var time = clock.instant();

    actor.sendMessage("late");
    clock.advance(Duration.ofHours(1));

    assertEquals(time, timedScope.deadLetters().getFirst().time());
    timedScope.close();
  }

  @Test
  void deadLetterOfUndeliveredMessageHasNoCause() {
    var actor = builder.newActor((Object m) -> {});
    actor.close();

    actor.sendMessage("late");

    assertEquals(Optional.empty(), letters.all.getFirst().cause());
    assertEquals(List.of("late"), letters.messages(Reason.UNDELIVERED));
  }

  @Promise("3.3")
  @Test
  void deadLetterOfTaskHasTaskAsMessage() {
    Runnable task = () -> {
      throw new IllegalStateException("bad task");
    };
    var actor = builder.newActor((Object m) -> {});

    actor.execute(task);

    assertSame(task, letters.all.getFirst().message());
  }

  @Promise("3.3")
  @Test
  void failedRequestIsCountedAndMakesNoDeadLetter() {
    var actor = builder.newActorWithReturn((Object m) -> {
      throw new IllegalStateException("bad");
    });

    actor.sendMessageReturn("asked");
    actor.close();
    actor.sendMessageReturn("late");

    assertEquals(List.of(), letters.all);
    assertEquals(List.of(1L, 1L),
        List.of(scope.report().unhandled().get(Reason.FAILED), scope.report().unhandled().get(Reason.UNDELIVERED)));
  }

  @Test
  void resendSendsMessageAgain() {
    var received = new CopyOnWriteArrayList<Object>();
    var actor = builder.newActor((Object m) -> {
      received.add(m);
      if (received.size() == 1) throw new IllegalStateException("not yet");
    });
    actor.sendMessage("message");

    assertTrue(letters.all.getFirst().resend());

    assertEquals(List.of("message", "message"), received);
  }

  @Test
  void resendRunsTaskAgain() {
    var runs = new CopyOnWriteArrayList<Object>();
    var actor = builder.newActor((Object m) -> {});
    actor.execute(() -> {
      runs.add("run");
      if (runs.size() == 1) throw new IllegalStateException("not yet");
    });

    assertTrue(letters.all.getFirst().resend());

    assertEquals(2, runs.size());
  }

  @Test
  void resendToFullMailboxReturnsFalseWithoutWaiting() {
    var actor = scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK))
        .onFailure(FailurePolicy.resume().withoutLog()).newActor((Object m) -> {
          if (m instanceof Gate gate) gate.pass();
          throw new IllegalStateException("bad");
        });
    actor.sendMessage("bad");
    Patience.eventually(() -> letters.all.size() == 1);
    Gate.occupy(actor);
    actor.sendMessage("fills it");

    assertFalse(letters.all.getFirst().resend());
  }

  @Test
  void resendToEndedActorReturnsFalse() {
    var actor = builder.newActor((Object m) -> {});
    actor.close();
    actor.sendMessage("late");

    assertFalse(letters.all.getFirst().resend());
    assertEquals(2, letters.all.size());
  }

  @Promise("3.4")
  @Test
  void exceptionOfDeadLetterListenerIsLogged() {
    var scopeWithBadListener = Variants.scope(o -> o.withDeadLetterListener(letter -> {
      throw new IllegalStateException("bad listener");
    }));
    var actor = scopeWithBadListener.named("victim").newActor((Object m) -> {});
    actor.close();

    try (var logged = new Logged()) {
      assertFalse(actor.sendMessage("late"));
      assertTrue(logged.text().contains("bad listener"), logged.text());
    }
  }

  @Promise("3.4")
  @Test
  void deadLetterCausedByListenerIsCountedButNotPassedToIt() {
    var target = new AtomicReference<Actor<Object>>();
    var received = new CopyOnWriteArrayList<Object>();
    var nestedScope = Variants.scope(o -> o.withDeadLetterListener(letter -> {
      received.add(letter.message());
      target.get().sendMessage("nested");
    }));
    target.set(nestedScope.anonymous().newActor((Object m) -> {}));
    target.get().close();

    target.get().sendMessage("outer");

    assertEquals(List.of("outer"), received);
    assertEquals(2, nestedScope.report().unhandled().get(Reason.UNDELIVERED));
  }

  @Test
  void listenerSetLaterReceivesLaterDeadLetters() {
    var actor = builder.newActor((Object m) -> {});
    actor.close();
    var newListener = new RecordedLetters();

    Scopes.configure(scope, o -> o.withDeadLetterListener(newListener));
    actor.sendMessage("late");

    assertEquals(List.of("late"), newListener.messages());
    assertEquals(List.of(), letters.all);
  }

  @Test
  void failureLogAndDeadLetterShowThatMessageToStringThrew() {
    var message = new Object() {
      @Override
      public String toString() {
        throw new IllegalStateException("no text");
      }
    };
    try (var logged = new Logged()) {
      var actor = scope.named("polite").newActor((Object m) -> {
        throw new IllegalStateException("bad");
      });

      actor.sendMessage(message);
      actor.close();

      assertTrue(logged.text().contains("its toString threw"), logged.text());
      assertTrue(letters.all.getFirst().toString().contains("its toString threw"));
    }
  }

  @Promise("19.4")
  @Test
  void deadLetterIsStoredIfClockThrows() {
    var timedScope = Variants.scope(o -> o.withDeadLetterListener(letters).withScheduler(new Clock() {
      @Override
      public Instant instant() {
        throw new IllegalStateException("planned");
      }
    }));
    var actor = timedScope.named("dead").newActor((Object m) -> {});
    actor.close();
    var before = Instant.now();

    assertFalse(actor.sendMessage("late"));

    assertEquals(List.of("late"), letters.messages(Reason.UNDELIVERED));
    assertFalse(timedScope.deadLetters().getFirst().time().isBefore(before));
    assertEquals(1, timedScope.report().deadLetterCounts().get(Reason.UNDELIVERED));
  }
}
