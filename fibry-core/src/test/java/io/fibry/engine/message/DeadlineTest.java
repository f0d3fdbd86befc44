package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorWithReturn;
import io.fibry.AskTimeoutException;
import io.fibry.Gate;
import io.fibry.Job;
import io.fibry.Promise;
import io.fibry.Request;
import io.fibry.Sink;
import io.fibry.Variants;
import io.fibry.engine.cell.Inside;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A handler that asks waits no longer than its own asker does. */
class DeadlineTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = Variants.scope(o -> o.withScheduler(clock));
  private final ActorWithReturn<Object, Object> a = Job.worker(scope.named("a"));
  private final ActorWithReturn<Object, Object> b = Job.worker(scope.named("b"));
  private final CompletableFuture<AskTimeoutException> late = new CompletableFuture<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  /** Asks with a limit of a second. The outcome does not matter. */
  private void askWithinASecond(ActorWithReturn<Object, Object> actor, Job job) {
    askWithin(SECOND, actor, job);
  }

  private static void askWithin(Duration limit, ActorWithReturn<Object, Object> actor, Job job) {
    Patience.startFiber(() -> {
      try {
        actor.ask(job, limit);
      } catch (AskTimeoutException expected) {
        // both limits end at the same moment
      }
    });
  }

  private static void silent() {
    try {
      new Gate().pass();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** After 300 ms, asks an actor that does not answer. */
  private Job thenAsk(Job.Act ask) {
    return Job.act("asks on", () -> {
      clock.advance(Duration.ofMillis(300));
      late.complete(assertThrows(AskTimeoutException.class, ask::run));
    });
  }

  private AskTimeoutException lateBy(ManualScheduler ticking, Duration step) {
    Patience.eventually(() -> {
      ticking.advance(step);
      return late.isDone();
    });
    return late.join();
  }

  @Promise("4.16")
  @Test
  void nestedAskHasRemainingTime() {
    askWithinASecond(a, thenAsk(() -> b.ask(Job.act("slow", DeadlineTest::silent))));
    Job.waiting(a);

    clock.advance(Duration.ofMillis(699));
    assertFalse(late.isDone());
    clock.advance(Duration.ofMillis(1));

    var failure = Patience.value(late);
    assertEquals(Duration.ofMillis(700), failure.waited());
    assertTrue(failure.getMessage().contains("within 700 ms, which was left of the limit of the request being handled"),
        failure.getMessage());
    assertTrue(failure.getMessage().contains("give the first ask of the chain a longer limit"), failure.getMessage());
  }

  @Promise("4.16")
  @Test
  void shorterOfTwoLimitsWins() {
    askWithinASecond(a, thenAsk(() -> b.ask(Job.act("slow", DeadlineTest::silent), Duration.ofMillis(200))));
    Job.waiting(a);

    clock.advance(Duration.ofMillis(200));

    var failure = Patience.value(late);
    assertEquals(Duration.ofMillis(200), failure.waited());
    assertFalse(failure.getMessage().contains("the request being handled"), failure.getMessage());
  }

  @Promise("4.16")
  @Test
  void theLimitShrinksAlongTheWholeChain() {
    var c = Job.worker(scope.named("c"));
    askWithinASecond(a, Job.act("first",
        () -> b.ask(thenAsk(() -> c.ask(Job.act("slow", DeadlineTest::silent))), Duration.ofHours(1))));
    Job.waiting(b);

    assertEquals(Duration.ofMillis(700), lateBy(clock, Duration.ofMillis(100)).waited());
  }

  @Promise("4.16")
  @Test
  void nestedAskIsNotSentWhenNoTimeIsLeft() {
    var asked = new AtomicBoolean();
    askWithinASecond(a, Job.act("too late", () -> {
      clock.advance(SECOND);
      late.complete(assertThrows(AskTimeoutException.class, () -> b.ask(Job.act("x", () -> asked.set(true)))));
    }));

    var failure = Patience.value(late);

    b.close();
    assertFalse(asked.get());
    assertEquals(Duration.ZERO, failure.waited());
    assertTrue(failure.getMessage().contains("'b' was not asked x, since no time was left for it"),
        failure.getMessage());
  }

  @Promise("4.16")
  @Test
  void aFutureStartsWithoutALimit() {
    Job.start(a, thenAsk(() -> b.ask(Job.act("slow", DeadlineTest::silent))));
    Job.waiting(a);

    assertEquals(Duration.ofSeconds(30), lateBy(clock, SECOND).waited());
  }

  @Test
  void futureSentWhileHandlingRequestHasNoLimit() {
    askWithinASecond(a,
        Job.act("first",
            () -> b
                .sendMessageReturn(
                    (Object) thenAsk(() -> Job.worker(scope.anonymous()).ask(Job.act("slow", DeadlineTest::silent))))
                .join()));
    Job.waiting(b);

    assertEquals(Duration.ofSeconds(30), lateBy(clock, SECOND).waited());
  }

  @Promise("4.16")
  @Test
  void execAndWaitPassesNoLimitOn() {
    Sink<StringBuilder> sink = scope.anonymous().initialState(StringBuilder::new).newSink();
    askWithinASecond(a, Job.act("first",
        () -> sink.execAndWait(text -> thenAsk(() -> b.ask(Job.act("slow", DeadlineTest::silent))).call())));
    Job.waiting(a);
    Patience.eventually(() -> Inside.waits(sink));

    assertEquals(Duration.ofSeconds(30), lateBy(clock, SECOND).waited());
  }

  @Promise("4.16")
  @Test
  void aMessageThatIsNoRequestSetsNoLimit() {
    askWithinASecond(a, Job.act("first", () -> {
      b.sendMessage(thenAsk(() -> Job.worker(scope.anonymous()).ask(Job.act("slow", DeadlineTest::silent))));
      silent();
    }));
    Job.waiting(b);

    assertEquals(Duration.ofSeconds(30), lateBy(clock, SECOND).waited());
  }

  @Promise("4.16")
  @Test
  void remainingTimeCountsBetweenTwoClocks() {
    var other = new ManualScheduler();
    other.advance(Duration.ofDays(1));
    var far = Job.worker(Variants.scope(o -> o.withScheduler(other)).anonymous());
    askWithinASecond(a, thenAsk(() -> far.ask(Job.act("slow", DeadlineTest::silent))));
    Job.waiting(a);

    other.advance(Duration.ofMillis(699));
    assertFalse(late.isDone());
    other.advance(Duration.ofMillis(1));

    assertEquals(Duration.ofMillis(700), Patience.value(late).waited());
  }

  @Promise("4.16")
  @Test
  void anInlineHandlerPassesOnTheLimitItRunsIn() {
    var inline = Job.worker(scope.named("inline").inlineRequests());
    askWithinASecond(a,
        Job.act("first", () -> inline.ask(thenAsk(() -> b.ask(Job.act("slow", DeadlineTest::silent))))));
    Job.waiting(a);

    assertEquals(Duration.ofMillis(700), lateBy(clock, Duration.ofMillis(100)).waited());
  }

  @Promise("4.16")
  @Test
  void aHandlerSeesHowLongItsAnswerIsAwaited() {
    var seen = new CompletableFuture<List<Optional<Duration>>>();
    var looks = scope.named("looks").newActorWithReturn((Object m, ActorContext<Object> context) -> {
      var before = context.remainingTime();
      clock.advance(Duration.ofMillis(300));
      var both = List.of(before, context.remainingTime());
      if (m.equals("tell")) seen.complete(both);
      return both;
    });
    var left = List.of(Optional.of(SECOND), Optional.of(Duration.ofMillis(700)));
    var none = List.of(Optional.empty(), Optional.empty());

    assertEquals(left, looks.ask("look", SECOND));
    assertEquals(left, Patience.value(looks.sendMessageReturn("look", SECOND)));
    assertEquals(none, Patience.value(looks.sendMessageReturn("look")));
    looks.sendMessage("tell");
    assertEquals(none, Patience.value(seen));
  }

  @Promise("4.16")
  @Test
  void theLimitOfAFutureIsPassedOnToo() {
    a.sendMessageReturn(thenAsk(() -> b.ask(Job.act("slow", DeadlineTest::silent))), SECOND);
    Job.waiting(a);

    assertEquals(Duration.ofMillis(700), lateBy(clock, Duration.ofMillis(100)).waited());
  }

  @Promise("4.16")
  @Test
  void nothingIsLeftOnceTheLimitIsOver() {
    var seen = new CompletableFuture<Optional<Duration>>();
    var actor = scope.named("late").newActorWithReturn((Object m, ActorContext<Object> context) -> {
      clock.advance(SECOND.plusMillis(1));
      return seen.complete(context.remainingTime());
    });

    actor.sendMessageReturn("look", SECOND);

    assertEquals(Optional.of(Duration.ZERO), Patience.value(seen));
  }

  @Promise("4.16")
  @Test
  void anInlineHandlerSeesTheLimitItRunsIn() {
    var seen = new CompletableFuture<String>();
    var inline = scope.named("inline").inlineRequests().newActorWithReturn((Object m, ActorContext<Object> context) -> {
      boolean early = context.isCancelled();
      clock.advance(SECOND);
      return seen.complete(early + " " + context.isCancelled());
    });

    askWithinASecond(a, Job.act("first", () -> inline.ask("look")));

    assertEquals("false true", Patience.value(seen));
  }

  @Test
  void promisedInlineAnswerEndsByLimitOfOuterRequest() {
    var inline = scope.named("inline").inlineRequests()
        .newActor((Object m, ActorContext<Object> context) -> context.replyWhen((Call) m, new CompletableFuture<>()));
    askWithinASecond(a, thenAsk(() -> inline.ask(new Call())));
    Job.waiting(a);

    assertEquals(Duration.ofMillis(700), lateBy(clock, Duration.ofMillis(100)).waited());
  }

  record Call() implements Request<Call, String> {}

  /** No limit is reached: the second handler has at most as much time left as the first had. */
  @Test
  void theMachinesClockShrinksLimitsToo() {
    var system = Variants.scope(o -> o);
    var left = new CompletableFuture<Duration>();
    var second = system.anonymous().newActorWithReturn(
        (Object question, ActorContext<Object> context) -> context.remainingTime().orElseThrow());
    var first = system.anonymous().newActorWithReturn((Object question, ActorContext<Object> context) -> {
      while (context.remainingTime().orElseThrow().compareTo(Patience.LONG.minusMillis(20)) > 0) Thread.onSpinWait();
      left.complete(context.remainingTime().orElseThrow());
      return second.ask("what is left?");
    });

    var leftLater = first.ask("?", Patience.LONG);

    assertTrue(leftLater.compareTo(left.join()) < 0, () -> leftLater + " after " + left.join());
  }

  record Take(String what) implements Request<Take, String> {}

  @Promise("4.16")
  @Test
  void askAfterReplyIsFreeOfRequestLimit() {
    var gate = new Gate();
    var answer = new CompletableFuture<Object>();
    var store = scope.anonymous().newActorWithReturn((String m) -> "stored " + m);
    var taker = scope.anonymous().protocol(Take.class).newActor((Take take, ActorContext<Take> context) -> {
      context.reply(take, "taken");
      gate.pass();
      answer.complete(store.ask(take.what()));
    });
    assertEquals("taken", taker.ask(new Take("it"), SECOND));
    clock.advance(SECOND);

    gate.open();

    assertEquals("stored it", Patience.value(answer));
  }
}
