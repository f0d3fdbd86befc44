package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorWithReturn;
import io.fibry.AskCycleException;
import io.fibry.DeadLetter;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Sink;
import io.fibry.Strategy;
import io.fibry.engine.cell.ActorInternals;
import io.fibry.engine.cell.Cell;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Job;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that one handler of a wait cycle gets an exception, which frees the other handlers. */
class WaitCycleTest {
  private static final Duration LONG = Duration.ofHours(1);
  private static final Map<String, Strategy> STRATEGIES = Map.of("FIBER", Strategy.FIBER, "THREAD", Strategy.THREAD,
      "RESIDENT_FIBER", Strategy.RESIDENT_FIBER, "of(executor)",
      Strategy.of(Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory())));

  /** Code that waits for another actor, whose mailbox has a capacity of two messages. */
  interface WaitCode {
    void waitFor(ActorWithReturn<Object, Object> target) throws Exception;
  }

  private static final Map<String, WaitCode> WAITS = Map.ofEntries(
      Map.entry("ask", target -> target.ask("x")),
      Map.entry("ask with a limit", target -> target.ask("x", LONG)),
      Map.entry("execAndWait", target -> ((Sink<?>) target).execAndWait(object -> {})),
      Map.entry("get", target -> target.sendMessageReturn("x").get()),
      Map.entry("timed get", target -> target.sendMessageReturn("x").get(1, TimeUnit.HOURS)),
      Map.entry("join", target -> target.sendMessageReturn("x").join()),
      Map.entry("join execFuture", target -> ((Sink<?>) target).execFuture(object -> "x").join()),
      Map.entry("waitForExit", Exitable::waitForExit),
      Map.entry("waitForExit with a limit", target -> target.waitForExit(LONG)),
      Map.entry("close", Exitable::close),
      Map.entry("capacity", WaitCycleTest::sendThree),
      Map.entry("capacity for a block", WaitCycleTest::sendThreeInBlocks));

  private static void sendThree(ActorWithReturn<Object, Object> target) {
    for (String message : List.of("x", "y", "z")) target.sendMessage(message);
  }

  private static void sendThreeInBlocks(ActorWithReturn<Object, Object> target) {
    target.sendMessage("x");
    target.sendMessages(List.of("y", "z"));
  }

  private final ActorScope scope = Variants.scope(o -> o.withAskLimit(LONG));

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  private ActorWithReturn<Object, Object> worker(String name) {
    return Job.worker(scope.named(name));
  }

  private ActorWithReturn<Object, Object> boundedWorker(String name) {
    return Job.worker(scope.named(name).mailbox(Mailbox.bounded(2, Overflow.BLOCK)));
  }

  private static AskCycleException expectCycle(Job.Act code) {
    return assertThrows(AskCycleException.class, code::run);
  }

  static Stream<Arguments> sizesAndStrategies() {
    return STRATEGIES.keySet().stream()
        .flatMap(strategy -> Stream.of(2, 3, 50).map(size -> Arguments.of(size, strategy)));
  }

  @Promise("4.18")
  @ParameterizedTest
  @MethodSource("sizesAndStrategies")
  void askThatClosesCycleOfAnySizeFails(int size, String strategy) {
    var members = new ArrayList<ActorWithReturn<Object, Object>>();
    for (int i = 0; i < size; i++) members.add(Job.worker(scope.named("a" + i).strategy(STRATEGIES.get(strategy))));
    var closingJob = new Job("last", () -> {
      for (var member : members.subList(0, size - 1)) Job.awaitWaits(member);
      return expectCycle(() -> members.getFirst().ask("round"));
    });
    var job = closingJob;
    for (int i = size - 1; i > 0; i--) job = askJob(members.get(i), job);

    var exception = assertInstanceOf(AskCycleException.class, Patience.value(Job.start(members.getFirst(), job)));

    var names = new ArrayList<String>(List.of("a" + (size - 1)));
    for (int i = 0; i < size; i++) names.add("a" + i);
    assertEquals(names, exception.cycle());
  }

  /** Returns a job that asks {@code next} to run {@code job}. */
  private static Job askJob(ActorWithReturn<Object, Object> next, Job job) {
    return new Job("to " + job.name(), () -> next.ask(job));
  }

  static Stream<String> kinds() {
    return WAITS.keySet().stream().sorted();
  }

  @Promise("4.18")
  @ParameterizedTest
  @MethodSource("kinds")
  void waitOfAnyKindThatClosesCycleFails(String kind) {
    var a = boundedWorker("a");
    var b = worker("b");
    var gate = new Gate();
    var outcome = Job.start(a, new Job("outer", () -> b.ask(new Job("inner", () -> {
      gate.pass();
      return expectCycle(() -> WAITS.get(kind).waitFor(a));
    }))));
    Patience.await(gate.entered);
    Job.awaitWaits(a);

    gate.open();

    assertEquals(List.of("b", "a", "b"), assertInstanceOf(AskCycleException.class, Patience.value(outcome)).cycle());
  }

  @Promise("4.18")
  @ParameterizedTest
  @MethodSource("kinds")
  void cycleIsFoundThroughWaitOfAnyKind(String kind) {
    var a = worker("a");
    var b = boundedWorker("b");
    var gate = new Gate();
    var outcome = Job.start(b, new Job("closes the cycle", () -> {
      gate.pass();
      return expectCycle(() -> a.ask("back"));
    }));
    Patience.await(gate.entered);
    var outcomeOfA = Job.start(a, Job.act("first", () -> WAITS.get(kind).waitFor(b)));
    Job.awaitWaits(a);

    gate.open();

    assertEquals(List.of("b", "a", "b"), assertInstanceOf(AskCycleException.class, Patience.value(outcome)).cycle());
    b.sendPoisonPill(); // some waits end only when b ends
    assertEquals("done", Patience.value(outcomeOfA));
  }

  @Promise("4.18")
  @Test
  void textOfCycleExceptionNamesEveryActorAndMessage() {
    var a = boundedWorker("a");
    var b = worker("b");
    var c = worker("c");
    var text = new CompletableFuture<String>();
    var closingJob =
        Job.act("fill", () -> text.complete(expectCycle(() -> sendThree(a)).getMessage())).onceWaiting(a, b);

    a.sendMessage(Job.act("outer", () -> b.ask(new Job("Balance[id=1]", () -> {
      c.sendMessage(closingJob);
      c.waitForExit();
      return "done";
    }))));

    assertEquals(
        "this wait could never end: 'c' waits for 'a' (capacity for \"z\"), 'a' waits for 'b' (Balance[id=1]), 'b' waits "
            + "for 'c' (its end). Send without waiting, or answer with replyWhen",
        Patience.value(text));
    c.sendPoisonPill();
  }

  @Promise("4.18")
  @Test
  void requestThatWouldCloseCycleIsWithdrawn() {
    var a = worker("a");
    var b = worker("b");
    var handled = new ArrayList<String>();

    var outcome = Job.start(a,
        askJob(b, new Job("inner",
            () -> expectCycle(() -> a.ask(Job.act("never", () -> handled.add("never"))))).onceWaiting(a)));

    assertInstanceOf(AskCycleException.class, Patience.value(outcome));
    assertEquals("next", a.ask("next"));
    assertEquals(List.of(), handled);
    assertEquals(1, scope.report().unhandled().get(DeadLetter.Reason.CANCELLED));
  }

  @Promise("4.18")
  @Test
  void requestWhoseGetFailsWithCycleIsStillAnswered() {
    var a = worker("a");
    var b = worker("b");
    var future = new CompletableFuture<CompletableFuture<Object>>();

    Job.start(a, askJob(b, Job.act("inner", () -> {
      var answer = a.sendMessageReturn("later");
      expectCycle(answer::get);
      future.complete(answer);
    }).onceWaiting(a)));

    assertEquals("later", Patience.value(Patience.value(future)));
  }

  /**
   * A request whose wait failed with the exception of a cycle must be withdrawn. Otherwise the two
   * actors would ask each other forever. Some further requests are permitted, because both handlers
   * may fail with the cycle at the same time.
   */
  @Promise("4.18")
  @Test
  void actorsThatAskEachOtherStopAskingAfterCycleException() {
    var partners = new AtomicReferenceArray<ActorWithReturn<Object, Object>>(2);
    for (int i = 0; i < 2; i++) {
      int target = 1 - i;
      partners.set(i, scope.named("partner" + i).onFailure(FailurePolicy.resume().withoutLog())
          .newActorWithReturn(
              (Object message) -> partners.get(target).sendMessageReturn(message).thenApply(x -> x).join()));
    }

    assertThrows(AskCycleException.class, () -> partners.get(0).ask("go"));

    assertTrue(scope.awaitQuiescence(Patience.LONG), scope::dump);
    assertTrue(scope.report().sent() <= 20, () -> scope.report().toString());
  }

  @Promise("4.18")
  @Test
  void cycleNamesHandlersNestedOnOneThread() {
    var a = worker("a");
    var b = Job.worker(scope.named("b").strategy(Strategy.CALLER));
    var c = worker("c");
    var outcome = new CompletableFuture<AskCycleException>();
    var closingJob = Job.act("back", () -> outcome.complete(expectCycle(() -> a.ask("x")))).onceWaiting(a);

    Job.start(a, Job.act("outer", () -> b.sendMessage(askJob(c, closingJob))));

    assertEquals(List.of("c", "a", "b", "c"), Patience.value(outcome).cycle());
    assertTrue(outcome.join().getMessage().contains(
        "'c' waits for 'a' (\"x\"), 'a' waits for 'b' (to back), 'b' waits for 'c' (back)"),
        outcome.join().getMessage());
  }

  @Test
  void cycleThroughDirectExecutorIsFound() {
    var a = worker("a");
    var b = Job.worker(scope.named("b").strategy(Strategy.of(Runnable::run)));
    var c = worker("c");

    var outcome =
        Job.start(a, askJob(b, askJob(c, new Job("back", () -> expectCycle(() -> b.ask("x"))).onceWaiting(a))));

    assertEquals(List.of("c", "b", "c"), assertInstanceOf(AskCycleException.class, Patience.value(outcome)).cycle());
  }

  /**
   * While the handler of {@code a} waits for {@code b}, its thread runs a task that asks {@code c}.
   */
  @Promise("4.18")
  @Test
  void taskRunOnThreadOfWaitingHandlerDoesNotHideCycle() {
    try (var pool = new ForkJoinPool(1)) {
      var a = Job.worker(scope.named("a").strategy(Strategy.of(pool)));
      var b = worker("b");
      var c = worker("c");
      var gate = new Gate();
      var cycleOutcome = Job.start(b, new Job("closes the cycle", () -> {
        gate.pass();
        return expectCycle(() -> a.ask("back"));
      }));
      Patience.await(gate.entered);
      var taskAnswer = new CompletableFuture<Object>();
      var outcome = Job.start(a, new Job("outer", () -> {
        CompletableFuture.runAsync(() -> taskAnswer.complete(c.ask("x")), pool);
        return b.ask("y");
      }));
      Patience.value(taskAnswer);
      Job.awaitWaits(a);

      gate.open();

      assertEquals(List.of("b", "a", "b"),
          assertInstanceOf(AskCycleException.class, Patience.value(cycleOutcome)).cycle());
      assertEquals("y", Patience.value(outcome));
    }
  }

  @Promise("4.18")
  @Test
  void cycleThroughInlineRequestsAndOtherThreadsIsFound() {
    var a = worker("a");
    var b = Job.worker(scope.named("b").inlineRequests());
    var c = worker("c");

    var outcome =
        Job.start(a, askJob(b, askJob(c, new Job("back", () -> expectCycle(() -> a.ask("x"))).onceWaiting(a))));

    assertEquals(List.of("c", "a", "b", "c"),
        assertInstanceOf(AskCycleException.class, Patience.value(outcome)).cycle());
  }

  @Test
  void cycleNamesInlineHandlersOfOneThread() {
    var a = worker("a");
    var b = Job.worker(scope.named("b").inlineRequests());
    var c = Job.worker(scope.named("c").inlineRequests());

    var outcome = Job.start(a, askJob(b, askJob(c, new Job("back", () -> expectCycle(() -> a.ask("x"))))));

    assertEquals(List.of("c", "a", "b", "c"),
        assertInstanceOf(AskCycleException.class, Patience.value(outcome)).cycle());
  }

  @Promise("4.18")
  @Test
  void cycleThroughExitHookIsFound() {
    var a = worker("a");
    var b = worker("b");
    var outcome = new CompletableFuture<AskCycleException>();
    var gate = new Gate();
    b.sendMessage(Job.act("waits for the end of a", () -> {
      gate.pass();
      outcome.complete(expectCycle(a::waitForExit));
    }));
    Patience.await(gate.entered);
    a.closeOnExit(b);
    a.sendPoisonPill();
    Patience.eventually(() -> ActorInternals.isHookWaiting(a));
    Patience.awaitParked(ActorInternals.hooksThread(a));

    gate.open();

    assertEquals(List.of("b", "a", "b"), Patience.value(outcome).cycle());
    Patience.awaitEnd(a::waitForExit);
  }

  @Test
  void waitIsCheckedForCycleOnlyInsideHandler() {
    var a = worker("a");
    var b = worker("b");

    var outcome = Job.start(a, askJob(b, new Job("back", () -> {
      try (var wait = Wait.begin((Cell) a, Wait.END, ((Cell) a).extras().exit())) {
        return WaitCycle.findFor(wait).waits.toString();
      }
    }).onceWaiting(a)));

    assertEquals("['b' waits for 'a' (its end), 'a' waits for 'b' (back)]", Patience.value(outcome));
    assertNull(Wait.begin((Cell) a, Wait.END, ((Cell) a).extras().exit()),
        "a wait began outside a handler");
  }

  @Test
  void cycleExceptionNamesAskedActorAndRequest() {
    var a = worker("a");
    var b = worker("b");
    var request = new Object();

    var outcome = Job.start(a, askJob(b, new Job("back", () -> expectCycle(() -> a.ask(request))).onceWaiting(a)));

    var exception = assertInstanceOf(AskCycleException.class, Patience.value(outcome));
    assertEquals("a", exception.actor());
    assertSame(request, exception.request());
  }
}
