package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests handlers that throw, states and copies that cannot be created, and errors of the JVM. */
class FailureTest {
  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope = Variants.scope(letters);
  private final List<Object> log = new CopyOnWriteArrayList<>();

  @Promise("8.1")
  @Test
  void failureIsLoggedWithActorAndMessageUnlessDisabled() {
    try (var logged = new Logged()) {
      var loggingActor = scope.named("loud").newActor((Object m) -> {
        throw new IllegalStateException("loud failure");
      });
      var quietActor = scope.named("quiet").onFailure(FailurePolicy.resume().withoutLog()).newActor((Object m) -> {
        throw new IllegalStateException("quiet failure");
      });

      loggingActor.sendMessage("message 17");
      quietActor.sendMessage("message 18");
      loggingActor.close();
      quietActor.close();

      for (String text : new String[] {"'loud'", "message 17", "loud failure"})
        assertTrue(logged.text().contains(text), logged.text());
      assertFalse(logged.text().contains("quiet"), logged.text());
    }
  }

  @Promise("8.4")
  @Test
  void stackOverflowIsHandledLikeOtherFailures() {
    var actor = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog())
        .newActorWithReturn((Object m) -> m.equals("deep") ? overflow(0) : m);

    assertThrows(StackOverflowError.class, () -> actor.ask("deep"));

    assertEquals("fine", actor.ask("fine"));
  }

  private static Object overflow(long depth) {
    return depth < 0 ? depth : (Object) ((Long) overflow(depth + 1) + 1);
  }

  @Promise("8.4")
  @Test
  void outOfMemoryErrorEndsActorAndIsLogged() {
    try (var logged = new Logged()) {
      var error = new OutOfMemoryError("made up");
      var actor =
          scope.named("greedy").onFailure(FailurePolicy.resume().withoutLog()).newActorWithReturn((Object m) -> {
            throw error;
          });

      assertSame(error, assertThrows(OutOfMemoryError.class, () -> actor.ask("more")));
      Patience.awaitEnd(actor::waitForExit);

      assertEquals(new ExitReason.Failed(error), actor.onExit().resultNow());
      assertTrue(logged.text().contains("greedy") && logged.text().contains("made up"), logged.text());
    }
  }

  @Promise("8.6")
  @Test
  void failedStateCreationFailsMessageAndIsRetried() {
    var tries = new AtomicInteger();
    var actor = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).initialState(() -> {
      if (tries.incrementAndGet() < 3) throw new IOException("not yet");
      return "made";
    }).newActorWithReturn((String s, Object m) -> s);

    assertThrows(IOException.class, () -> actor.ask(1));
    actor.sendMessage(2);

    assertEquals("made", actor.ask(3));
    assertEquals(List.of(2), letters.messages(Reason.FAILED));
    assertEquals("made", actor.ask(4));
    assertEquals(3, tries.get());
  }

  @Promise("8.6")
  @Test
  void exceptionExplainsThatInitialStateIsNull() {
    var actor = scope.named("hollow").onFailure(FailurePolicy.resume().withoutLog()).initialState(() -> (String) null)
        .newActorWithReturn((String s, Object m) -> m);

    var failure = assertThrows(NullPointerException.class, () -> actor.ask("anything"));

    for (String text : new String[] {"hollow", "initial state", "null"})
      assertTrue(failure.getMessage().contains(text), failure.getMessage());
  }

  @Promise("8.3")
  @Test
  void messageIsNotHandledIfStateCopyForRollbackFails() {
    var actor =
        scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).initialState(() -> "state").rollback(s -> {
          throw new IllegalStateException("no copy");
        }).newActorWithReturn((String s, Object m) -> assertInstanceOf(String.class, log.add(m) ? s : s));

    assertThrows(IllegalStateException.class, () -> actor.ask("anything"));

    assertEquals(List.of(), log);
  }
}
