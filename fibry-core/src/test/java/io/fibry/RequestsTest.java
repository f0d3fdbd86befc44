package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.DeadLetter.Reason;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.testing.Echo;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestsTest {
  record Ping() implements Request<Ping, String> {}

  private final RecordedLetters letters = new RecordedLetters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = Variants.scope(o -> o.withDeadLetterListener(letters).withScheduler(clock));
  private final ActorBuilder<Object> resumingBuilder = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog());

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  // ---- requests that fail with the handler's exception

  @Promise("4.3")
  @Test
  void askAddsAskersStackToHandlerException() {
    var echo = Echo.actor(resumingBuilder);
    var failure = new IOException("gone");

    assertThrows(IOException.class, () -> echo.ask(failure));

    assertEquals(1, failure.getSuppressed().length);
    assertEquals("asked here", failure.getSuppressed()[0].getMessage());
    assertTrue(Arrays.stream(failure.getSuppressed()[0].getStackTrace())
        .anyMatch(f -> f.getClassName().equals(RequestsTest.class.getName())));
  }

  @Promise("4.3")
  @Test
  void reusedExceptionKeepsAtMostFourAskerStacks() {
    var echo = Echo.actor(resumingBuilder);
    var failure = new IOException("again");

    for (int i = 0; i < 10; i++) assertThrows(IOException.class, () -> echo.ask(failure));

    assertEquals(4, failure.getSuppressed().length);
  }

  @Promise("4.2")
  @Test
  void askRethrowsHandlersError() {
    var echo = Echo.actor(resumingBuilder);
    var failure = new StackOverflowError("deep");

    assertSame(failure, assertThrows(StackOverflowError.class, () -> echo.ask(failure)));
    assertEquals("still there", echo.ask("still there"));
  }

  @Promise("4.2")
  @Test
  void jdkExceptionsOfHandlerReachAskerUnchanged() {
    var echo = Echo.actor(resumingBuilder);
    var completion = new CompletionException("mine", new IOException());
    var cancellation = new CancellationException("mine");

    assertSame(completion, assertThrows(CompletionException.class, () -> echo.ask(completion)));
    assertSame(cancellation, assertThrows(CancellationException.class, () -> echo.ask(cancellation)));
    assertFalse(echo.sendMessageReturn(cancellation).isCancelled());
    assertSame(completion, Patience.failure(echo.sendMessageReturn(completion)));
  }

  @Test
  void stageChainedToRequestFutureGetsHandlerException() {
    var echo = Echo.actor(resumingBuilder);
    var failure = new IOException("gone");

    var failureOfChain = echo.sendMessageReturn(failure).handle((value, thrown) -> thrown);

    assertSame(failure, Patience.value(failureOfChain));
  }

  @Promise("4.15")
  @Test
  void nullAnswerFailsRequestWithHintAtOptional() {
    var actor = resumingBuilder.newActorWithReturn((Object m) -> (Object) null);

    var failure = assertThrows(NullPointerException.class, () -> actor.ask("what"));

    assertTrue(failure.getMessage().contains("answered null to \"what\"") && failure.getMessage().contains("Optional"),
        failure.getMessage());
    assertTrue(actor.sendMessage("without asker"));
  }

  // ---- requests that the library refuses

  @Promise("4.5")
  @Test
  void fullMailboxFailsRequestWithDetails() {
    var actor = Echo.actor(scope.named("small").mailbox(Mailbox.bounded(2, Overflow.REJECT)));
    Gate.occupy(actor);
    actor.sendMessage(1);
    actor.sendMessage(2);

    var failure = assertThrows(MailboxFullException.class, () -> actor.ask("three"));

    assertEquals("small", failure.actor());
    assertEquals("three", failure.request());
    assertEquals(2, failure.capacity());
    for (String word : new String[] {"small", "full", "2 messages", "three", "Overflow.BLOCK"})
      assertTrue(failure.getMessage().contains(word), failure.getMessage());
    assertEquals(1, scope.report().unhandled().get(Reason.REJECTED));
    assertTrue(letters.all.isEmpty());
  }

  @Promise("4.6")
  @Test
  void requestExpiredInQueueIsNeverHandled() {
    var actor = Echo.actor(scope.named("slow"));
    Gate.occupy(actor);
    var thrown = new CompletableFuture<Throwable>();
    var asker = Patience.startFiber(
        () -> assertThrows(Throwable.class, () -> actor.ask("late", Duration.ofSeconds(5))), thrown);
    Patience.awaitParked(asker);
    Patience.eventually(() -> {
      clock.advance(Duration.ofSeconds(1));
      return thrown.isDone();
    });

    var failure = assertInstanceOf(AskTimeoutException.class, Patience.value(thrown));
    assertEquals(Duration.ofSeconds(5), failure.limit());
    for (String word : new String[] {"slow", "late", "5 s", "its handler had not begun", "longer limit"})
      assertTrue(failure.getMessage().contains(word), failure.getMessage());
    assertEquals(1, scope.report().unhandled().get(Reason.EXPIRED));
    Gate.openAll();
    actor.close();
    assertEquals(1, scope.report().handled());
  }

  @Promise("4.6")
  @Test
  void timeoutTextSaysThatHandlingHadBegun() {
    var actor = Echo.actor(scope.anonymous());
    var gate = new Gate();
    CompletableFuture<Throwable> thrown =
        Patience.callOnFiber(() -> assertThrows(Throwable.class, () -> actor.ask(gate, Duration.ofSeconds(5))));
    Patience.await(gate.entered);

    Patience.eventually(() -> {
      clock.advance(Duration.ofSeconds(5));
      return thrown.isDone();
    });

    var text = assertInstanceOf(AskTimeoutException.class, Patience.value(thrown)).getMessage();
    assertTrue(text.contains("its handler had begun"), text);
  }

  @Promise("4.6")
  @Test
  void askWithoutLimitUsesScopeLimit() {
    var actor = Echo.actor(Variants.scope(o -> o.withScheduler(clock).withAskLimit(Duration.ofMinutes(2))).anonymous());
    var gate = new Gate();
    CompletableFuture<Throwable> failure =
        Patience.callOnFiber(() -> assertThrows(Throwable.class, () -> actor.ask(gate)));
    Patience.await(gate.entered);

    Patience.eventually(() -> {
      clock.advance(Duration.ofMinutes(2));
      return failure.isDone();
    });

    assertEquals(Duration.ofMinutes(2), assertInstanceOf(AskTimeoutException.class, Patience.value(failure)).limit());
  }

  @Test
  void askTimesOutOnSystemClock() {
    var actor = Echo.actor(Variants.scope(o -> o).anonymous());
    Gate.occupy(actor);

    assertThrows(AskTimeoutException.class, () -> actor.ask("short", Duration.ofMillis(1)));
    assertThrows(AskTimeoutException.class, () -> actor.ask("longer", Duration.ofMillis(300)));
  }

  @Promise("4.8")
  @Test
  void missingReplyFailsRequestWithHint() {
    var actor = scope.named("mute").newActor((Object m) -> {});

    var failure = assertThrows(NoReplyException.class, () -> actor.ask(new Ping()));

    for (String word : new String[] {"mute", "Ping", "context.reply", "replyWhen"})
      assertTrue(failure.getMessage().contains(word), failure.getMessage());
  }

  @Test
  void stoppedActorFailsRequestWithExitReason() {
    var actor = Echo.actor(scope.named("gone"));
    actor.kill();
    Patience.awaitEnd(actor::waitForExit);

    var failure = assertThrows(ActorStoppedException.class, () -> actor.ask("hello"));

    assertEquals("gone", failure.actor());
    assertEquals(new ExitReason.Killed(), failure.reason());
    for (String word : new String[] {"gone", "ended", "Killed", "hello"})
      assertTrue(failure.getMessage().contains(word), failure.getMessage());
  }

  @Promise("4.7")
  @ParameterizedTest
  @ValueSource(strings = {"ask", "get", "join", "timed get", "waitForExit", "waitForExit(Duration)"})
  void actorWaitingForItselfGetsCycleException(String waitMethod) {
    var actor = scope.named("narcissus").newActorWithReturn((Object m, ActorContext<Object> context) -> {
      @SuppressWarnings("unchecked") var self = (ActorWithReturn<Object, Object>) context.self();
      if (m.equals("inner")) return "never";
      return assertThrows(AskCycleException.class, () -> waitFor(self, waitMethod));
    });

    var failure = (AskCycleException) actor.ask("outer");

    assertEquals(List.of("narcissus", "narcissus"), failure.cycle());
    for (String word : new String[] {"'narcissus' waits for 'narcissus'", "Send without waiting"})
      assertTrue(failure.getMessage().contains(word), failure.getMessage());
  }

  private static void waitFor(ActorWithReturn<Object, Object> self, String waitMethod) throws Exception {
    switch (waitMethod) {
      case "ask" -> self.ask("inner");
      case "get" -> self.sendMessageReturn("inner").get();
      case "join" -> self.sendMessageReturn("inner").join();
      case "timed get" -> self.sendMessageReturn("inner").get(1, TimeUnit.HOURS);
      case "waitForExit" -> self.waitForExit();
      default -> self.waitForExit(Duration.ofHours(1));
    }
  }

  @Promise("4.7")
  @Test
  void sendToOwnFullMailboxThrowsCycleException() {
    var failure = new CompletableFuture<AskCycleException>();
    var actor = scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK))
        .newActor((Object m, ActorContext<Object> context) -> {
          if (!m.equals("start")) return;
          context.self().sendMessage("fits");
          failure.complete(assertThrows(AskCycleException.class, () -> context.self().sendMessage("one too many")));
        });

    actor.sendMessage("start");

    assertEquals("one too many", Patience.value(failure).request());
    assertFalse(letters.messages().contains("one too many"));
  }
}
