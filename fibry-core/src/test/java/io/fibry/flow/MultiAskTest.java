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
import io.fibry.Gate;
import io.fibry.MailboxFullException;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.Waits;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
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
  private static final Duration LIMIT = Duration.ofHours(1); // on the clock that only the tests move

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

  private ActorWithReturn<String, String> answering(String answer) {
    return builder().newActorWithReturn((String question) -> answer);
  }

  private ActorWithReturn<String, String> failing(Exception failure) {
    return builder().newActorWithReturn((String question) -> {
      throw failure;
    });
  }

  /** Waits at the gate before it answers. */
  private ActorWithReturn<String, String> slow() {
    return scope.named("slow").newActorWithReturn((String question) -> {
      gate.passDeaf();
      handled.add(question);
      return question;
    });
  }

  @Test
  void allAnswersComeInTheOrderOfTheActors() {
    var actors = IntStream.range(0, 100).mapToObj(i -> builder().newActorWithReturn((Integer n) -> n + i)).toList();

    assertEquals(IntStream.range(1_000, 1_100).boxed().toList(), Flows.askAll(actors, 1_000, LONG));
  }

  @Test
  void askingNoActorsGivesNoAnswers() {
    assertEquals(List.of(), Flows.askAll(List.<ActorWithReturn<String, String>>of(), "?", LONG));
  }

  @Promise("22.8")
  @Test
  void theFirstAnswerIsTakenAndTheOtherRequestsAreCancelled() {
    var slow = slow();
    slow.sendMessage("busy");
    Patience.await(gate.entered);

    var first = Flows.askFirst(List.of(slow, answering("quick")), "?", LONG);
    gate.open();
    slow.close();

    assertEquals("quick", first);
    assertEquals(List.of("busy"), handled);
    assertEquals(1, scope.report().unhandled().get(DeadLetter.Reason.CANCELLED));
  }

  @Promise("22.8")
  @Test
  void theFirstFailureIsThrownAndTheOtherRequestsAreCancelled() {
    var failure = new IOException("no");
    var slow = slow();
    slow.sendMessage("busy");
    Patience.await(gate.entered);

    var thrown = assertThrows(IOException.class, () -> Flows.askAll(List.of(slow, failing(failure)), "?", LONG));
    gate.open();
    slow.close();

    assertSame(failure, thrown);
    assertTrue(Arrays.stream(thrown.getSuppressed()).anyMatch(at -> at.getMessage().equals("asked here")));
    assertEquals(List.of("busy"), handled);
  }

  @Test
  void endedActorAndFullMailboxFailGroupRequest() {
    var ended = answering("never");
    ended.close();
    ActorWithReturn<String, String> full =
        builder().mailbox(Mailbox.bounded(1, Overflow.REJECT)).newActorWithReturn((String question) -> {
          gate.passDeaf();
          return question;
        });
    full.sendMessage("busy");
    Patience.await(gate.entered);
    full.sendMessage("waits");

    assertThrows(ActorStoppedException.class, () -> Flows.askAll(List.of(answering("a"), ended), "?", LONG));
    assertThrows(MailboxFullException.class, () -> Flows.askAll(List.of(answering("a"), full), "?", LONG));
  }

  @Test
  void failuresDoNotCountWhileSomebodyAnswers() {
    var answer = Flows.askFirst(
        List.of(failing(new IOException("no")), answering("yes"), failing(new IOException("nor this"))), "?", LONG);

    assertEquals("yes", answer);
  }

  @Test
  void whenAllFailTheFirstIsThrownAndTheOthersAreSuppressed() {
    var one = new IOException("one");
    var other = new IllegalStateException("other");

    var thrown = assertThrows(Exception.class,
        () -> Flows.askFirst(List.of(failing(one), failing(other), failing(one)), "?", LONG));

    var all = new ArrayList<Throwable>(List.of(thrown.getSuppressed()));
    all.add(thrown);
    assertTrue(all.containsAll(List.of(one, other)), all::toString);
  }

  @Test
  void theJdksOwnExceptionsAreThrownAsTheyAre() {
    for (var own : List.of(new CancellationException("mine"),
        new java.util.concurrent.CompletionException("mine", new IOException())))
      assertSame(own, assertThrows(RuntimeException.class, () -> Flows.askAll(List.of(failing(own)), "?", LONG)));
  }

  // ---- limits

  /** The time-out of a question for which the time passes once this has come true. */
  private AskTimeoutException late(Callable<?> question, BooleanSupplier moment) {
    var late = new CompletableFuture<AskTimeoutException>();
    Patience.startFiber(() -> late.complete(assertThrows(AskTimeoutException.class, question::call)));
    Patience.eventually(moment);
    Patience.eventually(() -> {
      clock.advance(LIMIT);
      return late.isDone();
    });
    return late.join();
  }

  @Test
  void timeoutNamesActorsThatDidNotAnswer() {
    // on the asker's thread, so it has answered before the other one is asked
    var quick = builder().strategy(Strategy.CALLER).newActorWithReturn((String question) -> "a");
    var slow = slow();

    var late = late(() -> Flows.askAll(List.of(quick, slow), "how are you?", LIMIT),
        () -> gate.entered.getCount() == 0);

    assertEquals(LIMIT, late.waited());
    assertTrue(late.getMessage().contains("\"how are you?\" (of 2 actors; not answered by [slow])"), late::getMessage);
  }

  @Test
  void timeoutHidesMessageWhenScopeHidesContents() {
    try (var silent = ActorSystem.openScope("silent", o -> o.withScheduler(clock).withMessageContents(false))) {
      var slow = silent.named("slow").newActorWithReturn((String question) -> {
        gate.passDeaf();
        return question;
      });

      var late =
          late(() -> Flows.askAll(List.of(slow), "my password", LIMIT), () -> gate.entered.getCount() == 0);
      gate.open();

      assertTrue(!late.getMessage().contains("password"), late::getMessage);
    }
  }

  @Test
  void actorsOfAScopeThatIsClosedAreAskedInVain() {
    var slow = slow();
    scope.close();

    assertThrows(ActorStoppedException.class, () -> Flows.askAll(List.of(slow), "?", LONG));
    assertThrows(ActorStoppedException.class, () -> Flows.askFirst(List.of(slow), "?", LONG));
  }

  @Test
  void whenTheTimeIsOverForTheFirstAnswerFailuresAreSuppressed() {
    var failure = new IOException("no");
    // on the asker's thread, so its failure is known before that waits
    ActorWithReturn<String, String> failing =
        builder().strategy(Strategy.CALLER).newActorWithReturn((String question) -> {
          throw failure;
        });
    var slow = slow();
    slow.sendMessage("busy");
    Patience.await(gate.entered);

    var late = late(() -> Flows.askFirst(List.of(slow, failing), "?", LIMIT),
        () -> scope.report().unhandled().getOrDefault(DeadLetter.Reason.FAILED, 0L) == 1);
    gate.open();
    slow.close();

    assertEquals(List.of(failure), List.of(late.getSuppressed()));
    assertEquals(List.of("busy"), handled);
  }

  @Test
  void aLimitThatLeavesNoTimeSendsNothing() {
    var slow = slow();

    assertThrows(IllegalArgumentException.class, () -> Flows.askAll(List.of(slow), "?", Duration.ZERO));
    slow.close();

    assertEquals(0, scope.report().sent());
  }

  @Test
  void insideAHandlerTheLimitOfItsRequestHolds() {
    var slow = slow();
    var asking = scope.anonymous().newActorWithReturn((String question) -> {
      var late = assertThrows(AskTimeoutException.class, () -> Flows.askAll(List.of(slow), "?", LONG));
      handled.add(late.waited());
      return "done";
    });

    var asked = asking.sendMessageReturn("?", LIMIT);
    Patience.await(gate.entered);
    Patience.eventually(() -> {
      clock.advance(LIMIT);
      return asked.isDone() && !handled.isEmpty(); // either time-out may come first
    });

    assertTrue(((Duration) handled.getFirst()).compareTo(LIMIT) <= 0, handled::toString);
  }

  // ---- the asker

  @Test
  void actorThatAsksItsOwnFullMailboxIsToldWithoutLog() {
    var self = new CompletableFuture<ActorWithReturn<String, String>>();
    var asking = scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)).newActorWithReturn((String question) -> {
      gate.pass();
      if (question.equals("begun"))
        handled.add(assertThrows(AskCycleException.class, () -> Flows.askAll(List.of(self.join()), "?", LONG)));
      return question;
    });
    self.complete(asking);
    try (var logged = new Logged()) {
      asking.sendMessage("begun");
      Patience.await(gate.entered);
      asking.sendMessage("waits");
      gate.open();
      Patience.eventually(() -> !handled.isEmpty());

      assertEquals("", logged.about("'asked'", "begun", "waits", "MultiAsk"));
    }
  }

  @Test
  void anInterruptIsACancellationAndTheFlagIsKept() {
    var slow = slow();
    slow.sendMessage("busy");
    Patience.await(gate.entered);
    var told = new CompletableFuture<Boolean>();
    var asker = Patience.startFiber(() -> {
      assertThrows(CancellationException.class, () -> Flows.askAll(List.of(slow, answering("a")), "?", LONG));
      told.complete(Thread.currentThread().isInterrupted());
    });
    Patience.parked(asker);

    asker.interrupt();

    assertTrue(Patience.value(told));
    gate.open();
    slow.close();
    assertEquals(List.of("busy"), handled);
  }

  @Test
  void requestsTakeAlongWhatTheAskersThreadHas() {
    var who = builder().newActorWithReturn((String question) -> String.valueOf(user.get()));
    user.set("alice");

    assertEquals(List.of("alice", "alice"), Flows.askAll(List.of(who, who), "who?", LONG));
  }

  @Test
  void actorsOnTheCallersThreadAnswerThereInOrder() {
    var here = Thread.currentThread();
    var order = new ArrayList<Integer>(); // all on this thread
    var actors = IntStream.range(0, 10)
        .mapToObj(i -> scope.anonymous().strategy(Strategy.CALLER).newActorWithReturn((String question) -> {
          order.add(i);
          return Thread.currentThread() == here;
        })).toList();

    var answers = Flows.askAll(actors, "?", LONG);

    assertEquals(IntStream.range(0, 10).boxed().toList(), order);
    assertTrue(answers.stream().allMatch(answer -> answer));
  }

  @Test
  void anActorAskedTwiceAnswersTwice() {
    var count = new AtomicInteger();
    var counter = builder().newActorWithReturn((String question) -> count.incrementAndGet());

    assertEquals(List.of(1, 2), Flows.askAll(List.of(counter, counter), "?", LONG));
  }

  @Test
  void badInputIsRefused() {
    var actors = List.of(answering("a"));
    var withNull = new ArrayList<>(actors);
    withNull.add(null);

    var nobody = assertThrows(IllegalArgumentException.class,
        () -> Flows.askFirst(List.<ActorWithReturn<String, String>>of(), "?", LONG));

    assertEquals("no actors, so none can answer first; give at least one", nobody.getMessage());
    assertNullRefused("actors", () -> Flows.askAll((List<ActorWithReturn<String, String>>) null, "?", LONG));
    assertNullRefused("an actor", () -> Flows.askAll(withNull, "?", LONG));
    assertNullRefused("message", () -> Flows.askAll(actors, null, LONG));
    assertNullRefused("limit", () -> Flows.askAll(actors, "?", null));
  }

  @Test
  void groupRequestLogsAndLosesNothing() {
    try (var logged = new Logged()) {
      assertInstanceOf(IOException.class, assertThrows(Exception.class,
          () -> Flows.askAll(List.of(failing(new IOException()), answering("a")), "?", LONG)));

      assertEquals("", logged.about("'asked'", "MultiAsk"));
      assertEquals(List.of(), scope.deadLetters());
    }
  }
}
