package io.fibry.flow;

import static io.fibry.flow.NullAssertion.assertNullRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.AskCycleException;
import io.fibry.AskTimeoutException;
import io.fibry.ContextPropagator;
import io.fibry.DeadLetter;
import io.fibry.FailurePolicy;
import io.fibry.MailboxFullException;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MultiAskTest {
  private static final Duration LONG = Patience.LONG;
  private static final Duration LIMIT = Duration.ofHours(1); // on the manual clock

  private final ManualScheduler clock = new ManualScheduler();
  private final ThreadLocal<String> user = new ThreadLocal<>();
  private final ActorScope scope =
      ActorSystem.openScope("asked", o -> o.withScheduler(clock).withContextPropagator(new ContextPropagator<String>() {
        @Override
        public String capture() {
          return user.get();
        }

        @Override
        public AutoCloseable restore(String captured) {
          user.set(captured);
          return user::remove;
        }
      }));
  private final Gate gate = new Gate();
  private final List<Object> handled = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    scope.close();
  }

  private ActorBuilder<Object> builder() {
    return scope.anonymous().onFailure(FailurePolicy.resume().withoutLog());
  }

  private ActorWithReturn<String, String> responder(String answer) {
    return builder().newActorWithReturn((String question) -> answer);
  }

  private ActorWithReturn<String, String> thrower(Exception failure) {
    return builder().newActorWithReturn((String question) -> {
      throw failure;
    });
  }

  /** Returns an actor that waits at the gate before it answers. */
  private ActorWithReturn<String, String> newSlowActor() {
    return scope.named("slow").newActorWithReturn((String question) -> {
      gate.passUninterruptibly();
      handled.add(question);
      return question;
    });
  }

  @Test
  void askAllReturnsAnswersInOrderOfActors() {
    var actors = IntStream.range(0, 100).mapToObj(i -> builder().newActorWithReturn((Integer n) -> n + i)).toList();

    assertEquals(IntStream.range(1_000, 1_100).boxed().toList(), MultiAsk.askAll(actors, 1_000, LONG));
  }

  @Test
  void askAllOfNoActorsReturnsNoAnswers() {
    assertEquals(List.of(), MultiAsk.askAll(List.<ActorWithReturn<String, String>>of(), "?", LONG));
  }

  @Promise("22.8")
  @Test
  void askFirstTakesFirstAnswerAndCancelsOtherRequests() {
    var slowActor = newSlowActor();
    slowActor.sendMessage("busy");
    Patience.await(gate.entered);

    var firstAnswer = MultiAsk.askFirst(List.of(slowActor, responder("quick")), "?", LONG);
    gate.open();
    slowActor.close();

    assertEquals("quick", firstAnswer);
    assertEquals(List.of("busy"), handled);
    assertEquals(1, scope.report().unhandled().get(DeadLetter.Reason.CANCELLED));
  }

  @Promise("22.8")
  @Test
  void askAllThrowsFirstFailureAndCancelsOtherRequests() {
    var failure = new IOException("no");
    var slowActor = newSlowActor();
    slowActor.sendMessage("busy");
    Patience.await(gate.entered);

    var thrown =
        assertThrows(IOException.class, () -> MultiAsk.askAll(List.of(slowActor, thrower(failure)), "?", LONG));
    gate.open();
    slowActor.close();

    assertSame(failure, thrown);
    assertTrue(Arrays.stream(thrown.getSuppressed()).anyMatch(marker -> marker.getMessage().equals("asked here")));
    assertEquals(List.of("busy"), handled);
  }

  @Test
  void askAllFailsIfActorHasEndedOrItsMailboxIsFull() {
    var endedActor = responder("never");
    endedActor.close();
    ActorWithReturn<String, String> fullActor =
        builder().mailbox(Mailbox.bounded(1, Overflow.REJECT)).newActorWithReturn((String question) -> {
          gate.passUninterruptibly();
          return question;
        });
    fullActor.sendMessage("busy");
    Patience.await(gate.entered);
    fullActor.sendMessage("waits");

    assertThrows(ActorStoppedException.class, () -> MultiAsk.askAll(List.of(responder("a"), endedActor), "?", LONG));
    assertThrows(MailboxFullException.class, () -> MultiAsk.askAll(List.of(responder("a"), fullActor), "?", LONG));
  }

  @Test
  void askFirstIgnoresFailuresIfAnActorAnswers() {
    var answer = MultiAsk.askFirst(
        List.of(thrower(new IOException("no")), responder("yes"), thrower(new IOException("nor this"))), "?", LONG);

    assertEquals("yes", answer);
  }

  @Test
  void askFirstThrowsOneFailureWithOthersSuppressedIfAllFail() {
    var firstFailure = new IOException("one");
    var secondFailure = new IllegalStateException("other");

    var thrown = assertThrows(Exception.class,
        () -> MultiAsk.askFirst(List.of(thrower(firstFailure), thrower(secondFailure), thrower(firstFailure)), "?",
            LONG));

    var exceptions = new ArrayList<Throwable>(List.of(thrown.getSuppressed()));
    exceptions.add(thrown);
    assertTrue(exceptions.containsAll(List.of(firstFailure, secondFailure)), exceptions::toString);
  }

  @Test
  void jdkExceptionsOfHandlersAreThrownUnchanged() {
    for (var thrown : List.of(new CancellationException("mine"),
        new java.util.concurrent.CompletionException("mine", new IOException())))
      assertSame(thrown,
          assertThrows(RuntimeException.class, () -> MultiAsk.askAll(List.of(thrower(thrown)), "?", LONG)));
  }

  // ---- limits

  /**
   * Returns the time-out exception of the question. Advances the clock once the condition is true.
   */
  private AskTimeoutException awaitTimeout(Callable<?> question, BooleanSupplier condition) {
    CompletableFuture<AskTimeoutException> timeout =
        Patience.callOnFiber(() -> assertThrows(AskTimeoutException.class, question::call));
    Patience.eventually(condition);
    Patience.eventually(() -> {
      clock.advance(LIMIT);
      return timeout.isDone();
    });
    return Patience.value(timeout);
  }

  @Test
  void timeoutNamesActorsThatDidNotAnswer() {
    // runs on the asker's thread, so it answers before the slow actor is asked
    var quickActor = builder().strategy(Strategy.CALLER).newActorWithReturn((String question) -> "a");
    var slowActor = newSlowActor();

    var timeout = awaitTimeout(() -> MultiAsk.askAll(List.of(quickActor, slowActor), "how are you?", LIMIT),
        () -> gate.entered.getCount() == 0);

    assertEquals(LIMIT, timeout.limit());
    assertTrue(timeout.getMessage().contains("\"how are you?\" (sent to 2 actors; no answer from slow)"),
        timeout::getMessage);
  }

  @Test
  void timeoutNamesTenActorsAndCountsOthers() {
    var slowActors =
        IntStream.range(0, 13).mapToObj(i -> scope.named("slow " + i).newActorWithReturn((String question) -> {
          gate.pass();
          return question;
        })).toList();

    var timeout = awaitTimeout(() -> MultiAsk.askAll(slowActors, "how are you?", LIMIT),
        () -> gate.entered.getCount() == 0);

    assertTrue(timeout.getMessage().contains("(sent to 13 actors; no answer from "
        + "slow 0, slow 1, slow 2, slow 3, slow 4, slow 5, slow 6, slow 7, slow 8, slow 9 and 3 more)"),
        timeout::getMessage);
  }

  @Test
  void timeoutHidesMessageWhenScopeHidesContents() {
    try (var silentScope = ActorSystem.openScope("silent", o -> o.withScheduler(clock).withMessageContents(false))) {
      var slowActor = silentScope.named("slow").newActorWithReturn((String question) -> {
        gate.passUninterruptibly();
        return question;
      });

      var timeout = awaitTimeout(() -> MultiAsk.askAll(List.of(slowActor), "my password", LIMIT),
          () -> gate.entered.getCount() == 0);
      gate.open();

      assertTrue(!timeout.getMessage().contains("password"), timeout::getMessage);
    }
  }

  @Test
  void askingActorsOfClosedScopeFails() {
    var slowActor = newSlowActor();
    scope.close();

    assertThrows(ActorStoppedException.class, () -> MultiAsk.askAll(List.of(slowActor), "?", LONG));
    assertThrows(ActorStoppedException.class, () -> MultiAsk.askFirst(List.of(slowActor), "?", LONG));
  }

  @Test
  void timeoutOfAskFirstListsEarlierFailuresAsSuppressed() {
    var failure = new IOException("no");
    // runs on the asker's thread, so it fails before the asker begins to wait
    ActorWithReturn<String, String> failingActor =
        builder().strategy(Strategy.CALLER).newActorWithReturn((String question) -> {
          throw failure;
        });
    var slowActor = newSlowActor();
    slowActor.sendMessage("busy");
    Patience.await(gate.entered);

    var timeout = awaitTimeout(() -> MultiAsk.askFirst(List.of(slowActor, failingActor), "?", LIMIT),
        () -> scope.report().unhandled().getOrDefault(DeadLetter.Reason.FAILED, 0L) == 1);
    gate.open();
    slowActor.close();

    assertEquals(List.of(failure), List.of(timeout.getSuppressed()));
    assertEquals(List.of("busy"), handled);
  }

  @Test
  void askAllWithZeroLimitIsRefusedAndSendsNothing() {
    var slowActor = newSlowActor();

    assertThrows(IllegalArgumentException.class, () -> MultiAsk.askAll(List.of(slowActor), "?", Duration.ZERO));
    slowActor.close();

    assertEquals(0, scope.report().sent());
  }

  @Test
  void askAllInHandlerTimesOutAtLimitOfHandledRequest() {
    var slowActor = newSlowActor();
    var asker = scope.anonymous().newActorWithReturn((String question) -> {
      var timeout = assertThrows(AskTimeoutException.class, () -> MultiAsk.askAll(List.of(slowActor), "?", LONG));
      handled.add(timeout.limit());
      return "done";
    });

    var answer = asker.sendMessageReturn("?", LIMIT);
    Patience.await(gate.entered);
    Patience.eventually(() -> {
      clock.advance(LIMIT);
      return answer.isDone() && !handled.isEmpty(); // the outer or the inner request may time out first
    });

    assertTrue(((Duration) handled.getFirst()).compareTo(LIMIT) <= 0, handled::toString);
  }

  // ---- the asker

  @Test
  void askingOwnFullMailboxThrowsCycleExceptionWithoutLog() {
    var self = new CompletableFuture<ActorWithReturn<String, String>>();
    var asker = scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)).newActorWithReturn((String question) -> {
      gate.pass();
      if (question.equals("begun"))
        handled.add(assertThrows(AskCycleException.class, () -> MultiAsk.askAll(List.of(self.join()), "?", LONG)));
      return question;
    });
    self.complete(asker);
    try (var logged = new Logged()) {
      asker.sendMessage("begun");
      Patience.await(gate.entered);
      asker.sendMessage("waits");
      gate.open();
      Patience.eventually(() -> !handled.isEmpty());

      assertEquals("", logged.entriesAbout("'asked'", "begun", "waits", "MultiAsk"));
    }
  }

  @Test
  void interruptedAskerGetsCancellationAndKeepsInterruptFlag() {
    var slowActor = newSlowActor();
    slowActor.sendMessage("busy");
    Patience.await(gate.entered);
    var interruptFlag = new CompletableFuture<Boolean>();
    var asker = Patience.startFiber(() -> {
      assertThrows(CancellationException.class, () -> MultiAsk.askAll(List.of(slowActor, responder("a")), "?", LONG));
      return Thread.currentThread().isInterrupted();
    }, interruptFlag);
    Patience.awaitParked(asker);

    asker.interrupt();

    assertTrue(Patience.value(interruptFlag));
    gate.open();
    slowActor.close();
    assertEquals(List.of("busy"), handled);
  }

  @Test
  void handlersSeeContextOfAskersThread() {
    var userReporter = builder().newActorWithReturn((String question) -> String.valueOf(user.get()));
    user.set("alice");

    assertEquals(List.of("alice", "alice"), MultiAsk.askAll(List.of(userReporter, userReporter), "who?", LONG));
  }

  @Test
  void callerStrategyActorsAnswerOnCallersThreadInOrder() {
    var callerThread = Thread.currentThread();
    var order = new ArrayList<Integer>(); // used by this thread only
    var actors = IntStream.range(0, 10)
        .mapToObj(i -> scope.anonymous().strategy(Strategy.CALLER).newActorWithReturn((String question) -> {
          order.add(i);
          return Thread.currentThread() == callerThread;
        })).toList();

    var answers = MultiAsk.askAll(actors, "?", LONG);

    assertEquals(IntStream.range(0, 10).boxed().toList(), order);
    assertTrue(answers.stream().allMatch(answer -> answer));
  }

  @Test
  void actorListedTwiceInAskAllAnswersTwice() {
    var count = new AtomicInteger();
    var counter = builder().newActorWithReturn((String question) -> count.incrementAndGet());

    assertEquals(List.of(1, 2), MultiAsk.askAll(List.of(counter, counter), "?", LONG));
  }

  @Test
  void emptyAskFirstAndNullArgumentsAreRefused() {
    var actors = List.of(responder("a"));
    var withNull = new ArrayList<>(actors);
    withNull.add(null);

    var refusal = assertThrows(IllegalArgumentException.class,
        () -> MultiAsk.askFirst(List.<ActorWithReturn<String, String>>of(), "?", LONG));

    assertEquals("no actors, so none can answer first; give at least one", refusal.getMessage());
    assertNullRefused("actors", () -> MultiAsk.askAll((List<ActorWithReturn<String, String>>) null, "?", LONG));
    assertNullRefused("an actor", () -> MultiAsk.askAll(withNull, "?", LONG));
    assertNullRefused("message", () -> MultiAsk.askAll(actors, null, LONG));
    assertNullRefused("limit", () -> MultiAsk.askAll(actors, "?", null));
  }

  @Test
  void failedAskAllLogsNothingAndLeavesNoDeadLetter() {
    try (var logged = new Logged()) {
      assertInstanceOf(IOException.class, assertThrows(Exception.class,
          () -> MultiAsk.askAll(List.of(thrower(new IOException()), responder("a")), "?", LONG)));

      assertEquals("", logged.entriesAbout("'asked'", "MultiAsk"));
      assertEquals(List.of(), scope.deadLetters());
    }
  }
}
