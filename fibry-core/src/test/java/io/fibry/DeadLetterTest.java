package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.DeadLetter.Reason;
import io.fibry.engine.scope.Scopes;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Messages that no handler finished. For the reason of each mailbox see {@link MailboxesTest}. */
class DeadLetterTest {
  private final Letters letters = new Letters();
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

  @Test
  void anUndeliveredMessageHasNoCause() {
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
  void failedRequestIsCountedWithoutDeadLetter() {
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
    var seen = new CopyOnWriteArrayList<Object>();
    var actor = builder.newActor((Object m) -> {
      seen.add(m);
      if (seen.size() == 1) throw new IllegalStateException("not yet");
    });
    actor.sendMessage("message");

    assertTrue(letters.all.getFirst().resend());

    assertEquals(List.of("message", "message"), seen);
  }

  @Test
  void resendRunsATaskAgain() {
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
  void resendNeverWaitsForRoom() {
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
  void resendToAnEndedActorAnswersFalse() {
    var actor = builder.newActor((Object m) -> {});
    actor.close();
    actor.sendMessage("late");

    assertFalse(letters.all.getFirst().resend());
    assertEquals(2, letters.all.size());
  }

  @Promise("3.4")
  @Test
  void aListenerThatThrowsIsLoggedAndHarmsNoActor() {
    var bad = Variants.scope(o -> o.withDeadLetters(letter -> {
      throw new IllegalStateException("bad listener");
    }));
    var actor = bad.named("victim").newActor((Object m) -> {});
    actor.close();

    try (var logged = new Logged()) {
      assertFalse(actor.sendMessage("late"));
      assertTrue(logged.text().contains("bad listener"), logged.text());
    }
  }

  @Promise("3.4")
  @Test
  void deadLetterFromListenerIsCountedButNotReported() {
    var target = new AtomicReference<Actor<Object>>();
    var seen = new CopyOnWriteArrayList<Object>();
    var nested = Variants.scope(o -> o.withDeadLetters(letter -> {
      seen.add(letter.message());
      target.get().sendMessage("nested");
    }));
    target.set(nested.anonymous().newActor((Object m) -> {}));
    target.get().close();

    target.get().sendMessage("outer");

    assertEquals(List.of("outer"), seen);
    assertEquals(2, nested.report().unhandled().get(Reason.UNDELIVERED));
  }

  @Test
  void listenerSetLaterReceivesLaterDeadLetters() {
    var actor = builder.newActor((Object m) -> {});
    actor.close();
    var later = new Letters();

    Scopes.configure(scope, o -> o.withDeadLetters(later));
    actor.sendMessage("late");

    assertEquals(List.of("late"), later.messages());
    assertEquals(List.of(), letters.all);
  }

  @Test
  void messageWithThrowingToStringDoesNoHarm() {
    var rude = new Object() {
      @Override
      public String toString() {
        throw new IllegalStateException("no text");
      }
    };
    try (var logged = new Logged()) {
      var actor = scope.named("polite").newActor((Object m) -> {
        throw new IllegalStateException("bad");
      });

      actor.sendMessage(rude);
      actor.close();

      assertTrue(logged.text().contains("its toString threw"), logged.text());
      assertTrue(letters.all.getFirst().toString().contains("its toString threw"));
    }
  }
}
