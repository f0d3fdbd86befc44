package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.MailboxFullException;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Job;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests that an actor keeps its state if its handler asks another actor that refuses the request.
 */
class RefusedNestedAskTest {
  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope app = ActorSystem.openScope("app", o -> o.withDeadLetterListener(letters));
  private final ActorWithReturn<Object, Object> payments = Job.worker(app.named("payments"));
  private final AtomicInteger handledCount = new AtomicInteger();

  /** The nested request of a handler. */
  private interface NestedRequest {
    Object ask(ActorWithReturn<Object, Object> target) throws Exception;
  }

  @AfterEach
  void close() {
    Gate.openAll();
    app.closeWithin(Duration.ZERO);
  }

  /**
   * Creates an actor whose answer to a message is the list of all messages so far. At the message
   * "pay" it makes the nested request instead.
   */
  private ActorWithReturn<String, Object> account(FailurePolicy policy, NestedRequest nestedRequest) {
    return app.named("account").onFailure(policy).initialState(ArrayList<String>::new)
        .newActorWithReturn((ArrayList<String> state, String message) -> {
          handledCount.incrementAndGet();
          if (message.equals("pay")) return nestedRequest.ask(payments);
          state.add(message);
          return List.copyOf(state);
        });
  }

  private ActorWithReturn<String, Object> account(FailurePolicy policy) {
    payments.close();
    return account(policy, target -> target.ask("charge"));
  }

  private long count(Reason reason) {
    return app.report().unhandled().get(reason);
  }

  @Promise("17.16")
  @Test
  void refusedNestedAskFailsOuterAskAndKeepsState() {
    var account = account(FailurePolicy.restart().withBudget(0, Duration.ofMinutes(1)).withRetries(3));
    account.ask("deposit 100");

    var refusal = assertThrows(ActorStoppedException.class, () -> account.ask("pay"));

    assertEquals("payments", refusal.actor());
    assertEquals(List.of("deposit 100", "deposit 200"), account.ask("deposit 200"));
    assertEquals(3, handledCount.get());
    assertEquals(List.of(1L, 0L), List.of(count(Reason.NESTED_REQUEST_FAILED), count(Reason.FAILED)));
  }

  @Promise("17.16")
  @Test
  void messageWhoseNestedAskIsRefusedBecomesDeadLetter() {
    var account = account(FailurePolicy.stop());

    account.sendMessage("pay");
    assertEquals(List.of("deposit"), account.ask("deposit"));

    assertEquals(List.of("pay"), letters.messages(Reason.NESTED_REQUEST_FAILED));
    assertInstanceOf(ActorStoppedException.class, letters.all.getFirst().cause().orElseThrow());
  }

  @Promise("17.16")
  @Test
  void actorKeepsStateWhenWaitForRefusedNestedRequestThrows() {
    payments.close();
    var account = account(FailurePolicy.stop(), target -> switch (handledCount.get() % 2) {
      case 0 -> target.sendMessageReturn("charge").get();
      default -> target.sendMessageReturn("charge").thenApply(answer -> answer).join();
    });

    assertThrows(ActorStoppedException.class, () -> account.ask("pay"));
    assertThrows(ActorStoppedException.class, () -> account.ask("pay"));

    assertEquals(List.of("deposit"), account.ask("deposit"));
    assertEquals(2, count(Reason.NESTED_REQUEST_FAILED));
  }

  @Promise("17.16")
  @Test
  void askOfFullMailboxDoesNotRestartAskingActor() {
    ActorWithReturn<Object, Object> fullActor =
        app.named("full").mailbox(Mailbox.bounded(1, Overflow.REJECT)).newActorWithReturn(message -> {
          if (message instanceof Gate gate) gate.pass();
          return message;
        });
    Gate.occupy(fullActor);
    fullActor.sendMessage("fits");
    var account = account(FailurePolicy.restart(), target -> fullActor.ask("charge"));
    account.ask("deposit");

    assertThrows(MailboxFullException.class, () -> account.ask("pay"));

    assertEquals(List.of("deposit", "again"), account.ask("again"));
  }

  @Promise("17.17")
  @Test
  void refusedNestedAskIsHandledByRequestFailurePolicy() {
    var account =
        account(FailurePolicy.resume().withRequestFailurePolicy(FailurePolicy.restart().withRetries(1).withoutLog()));
    account.ask("deposit");

    assertThrows(ActorStoppedException.class, () -> account.ask("pay"));

    assertEquals(List.of("again"), account.ask("again"));
    assertEquals(4, handledCount.get());
    assertEquals(1, count(Reason.NESTED_REQUEST_FAILED));
  }

  @Promise("17.17")
  @Test
  void escalatingRequestFailurePolicyDefersToScope() {
    var account = account(FailurePolicy.resume().withRequestFailurePolicy(FailurePolicy.escalate().withoutLog()));

    assertThrows(ActorStoppedException.class, () -> account.ask("pay"));

    var reason = assertInstanceOf(ExitReason.Failed.class, Patience.value(account.onExit()));
    assertInstanceOf(ActorStoppedException.class, reason.cause());
  }

  @Promise("17.17")
  @Test
  void choosePolicySeesRefusedNestedAsksOnlyIfConfigured() {
    var chosenFailures = new ArrayList<Throwable>();
    var policy = FailurePolicy.choose(failure -> {
      chosenFailures.add(failure);
      return FailurePolicy.resume().withoutLog();
    });
    var account = account(policy);
    assertThrows(ActorStoppedException.class, () -> account.ask("pay"));
    assertEquals(List.of(), chosenFailures);
    account.close();

    var configuredAccount = account(policy.withRequestFailurePolicy(policy));
    var refusal = assertThrows(ActorStoppedException.class, () -> configuredAccount.ask("pay"));

    assertSame(refusal, chosenFailures.getFirst());
  }

  /**
   * Runs the code, and returns the log entries about the line. Asserts that the line was logged at
   * least once, and at most once a second.
   */
  private static String logWithLineOncePerSecond(String line, Runnable code) {
    long start = System.nanoTime();
    String text;
    try (var logged = new Logged()) {
      code.run();
      text = logged.entriesAbout(line);
    }
    long seconds = Duration.ofNanos(System.nanoTime() - start).toSeconds();

    long lines = text.lines().filter(logLine -> logLine.contains(line)).count();
    assertTrue(lines >= 1 && lines <= seconds + 1, () -> lines + " lines in " + seconds + " s: " + text);
    return text;
  }

  @Promise("17.18")
  @Test
  void equalFailuresOfRestartingActorAreLoggedOncePerSecond() {
    logWithLineOncePerSecond("failed at \"work\"; it restarts", () -> {
      var actor = app.named("broken").onFailure(FailurePolicy.restart()).newActor((Object message) -> {
        throw new IllegalStateException("down");
      });
      for (int i = 0; i < 300; i++) actor.sendMessage("work");
      assertTrue(app.awaitQuiescence(Patience.LONG));
    });
  }

  @Promise("17.18")
  @Test
  void equalFailuresOfManyActorsAreLoggedOncePerSecond() {
    logWithLineOncePerSecond("failed at \"work\"; it continues", () -> {
      for (int i = 0; i < 300; i++) app.named("worker" + i).newActor((Object message) -> {
        throw new IllegalStateException("down");
      }).sendMessage("work");
      assertTrue(app.awaitQuiescence(Patience.LONG));
    });
  }

  @Promise("17.18")
  @Test
  void refusedNestedAsksAreLoggedOncePerSecondWithoutStack() {
    var account = account(FailurePolicy.resume());

    String text =
        logWithLineOncePerSecond("actor 'account' could not finish \"pay\": actor 'payments' ended", () -> {
          for (int i = 0; i < 5_000; i++) account.sendMessage("pay");
          account.ask("deposit", Patience.LONG);
        });

    assertFalse(text.contains("\tat "), text);
  }

  @Promise("17.18")
  @Test
  void equalFailuresOfOneActorLogStackOncePerSecond() {
    var actor = app.named("broken").newActor((Integer i) -> {
      if (i >= 0) throw new IllegalStateException("planned " + i);
    });

    logWithLineOncePerSecond("actor 'broken' failed at", () -> {
      for (int i = 0; i < 5_000; i++) actor.sendMessage(i);
      actor.close();
    });

    assertEquals(5_000, count(Reason.FAILED));
  }

  /** The JDK throws both failures at the same line. */
  @Promise("17.18")
  @Test
  void failuresOfOtherHandlersAreLoggedAtOnce() {
    try (var logged = new Logged()) {
      var first = app.named("first").newActor((String text) -> Objects.requireNonNull(null, text));
      var second = app.named("second").newActor((String text) -> Objects.requireNonNull(null, text));
      first.sendMessage("x");
      second.sendMessage("x");
      assertTrue(app.awaitQuiescence(Patience.LONG));
      for (var name : List.of("first", "second"))
        assertEquals(1, logged.lines("actor '" + name + "' failed at").size(), logged.text());
    }
  }

  @Test
  void policyTextShowsRequestFailurePolicy() {
    var policy = FailurePolicy.restart().withRequestFailurePolicy(FailurePolicy.stop());

    assertEquals("restart().withRequestFailurePolicy(stop())", policy.toString());
    assertEquals(FailurePolicy.Kind.STOP,
        policy.withRetries(2).withoutLog().requestFailurePolicy().orElseThrow().kind());
    assertTrue(FailurePolicy.restart().requestFailurePolicy().isEmpty());
    assertEquals("policy",
        assertThrows(NullPointerException.class, () -> policy.withRequestFailurePolicy(null)).getMessage());
  }
}
