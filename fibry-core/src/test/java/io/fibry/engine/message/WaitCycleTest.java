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
import io.fibry.Gate;
import io.fibry.Job;
import io.fibry.Promise;
import io.fibry.Sink;
import io.fibry.Strategy;
import io.fibry.Variants;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.Inside;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
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

/** Handlers that wait for each other in a ring. One is told, which frees the others. */
class WaitCycleTest {
  private static final Duration LONG = Duration.ofHours(1);
  private static final Map<String, Strategy> STRATEGIES = Map.of("FIBER", Strategy.FIBER, "THREAD", Strategy.THREAD,
      "RESIDENT_FIBER", Strategy.RESIDENT_FIBER, "of(executor)",
      Strategy.of(Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory())));

  /** How a handler waits for another actor, whose mailbox holds two messages. */
  interface Waiting {
    void on(ActorWithReturn<Object, Object> other) throws Exception;
  }

  private static final Map<String, Waiting> KINDS = Map.ofEntries(
      Map.entry("ask", other -> other.ask("x")),
      Map.entry("ask with a limit", other -> other.ask("x", LONG)),
      Map.entry("execAndWait", other -> ((Sink<?>) other).execAndWait(object -> {})),
      Map.entry("get", other -> other.sendMessageReturn("x").get()),
      Map.entry("timed get", other -> other.sendMessageReturn("x").get(1, TimeUnit.HOURS)),
      Map.entry("join", other -> other.sendMessageReturn("x").join()),
      Map.entry("join execFuture", other -> ((Sink<?>) other).execFuture(object -> "x").join()),
      Map.entry("waitForExit", Exitable::waitForExit),
      Map.entry("waitForExit with a limit", other -> other.waitForExit(LONG)),
      Map.entry("close", Exitable::close),
      Map.entry("room", WaitCycleTest::sendThree),
      Map.entry("room for a block", WaitCycleTest::sendThreeInBlocks));

  private static void sendThree(ActorWithReturn<Object, Object> other) {
    for (String message : List.of("x", "y", "z")) other.sendMessage(message);
  }

  private static void sendThreeInBlocks(ActorWithReturn<Object, Object> other) {
    other.sendMessage("x");
    other.sendMessages(List.of("y", "z"));
  }

  private final ActorScope scope = Variants.scope(o -> o.withAskLimit(LONG));

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  private ActorWithReturn<Object, Object> worker(String name) {
    return Job.worker(scope.named(name));
  }

  private ActorWithReturn<Object, Object> small(String name) {
    return Job.worker(scope.named(name).mailbox(Mailbox.bounded(2, Overflow.BLOCK)));
  }

  private static AskCycleException cycle(Job.Act code) {
    return assertThrows(AskCycleException.class, code::run);
  }

  static Stream<Arguments> sizesAndStrategies() {
    return STRATEGIES.keySet().stream()
        .flatMap(strategy -> Stream.of(2, 3, 50).map(size -> Arguments.of(size, strategy)));
  }

  @Promise("4.18")
  @ParameterizedTest
  @MethodSource("sizesAndStrategies")
  void waitThatClosesCycleIsTold(int size, String strategy) {
    var members = new ArrayList<ActorWithReturn<Object, Object>>();
    for (int i = 0; i < size; i++) members.add(Job.worker(scope.named("a" + i).strategy(STRATEGIES.get(strategy))));
    var last = new Job("last", () -> {
      for (var member : members.subList(0, size - 1)) Job.waiting(member);
      return cycle(() -> members.getFirst().ask("round"));
    });
    var job = last;
    for (int i = size - 1; i > 0; i--) job = asking(members.get(i), job);

    var told = assertInstanceOf(AskCycleException.class, Patience.value(Job.start(members.getFirst(), job)));

    var names = new ArrayList<String>(List.of("a" + (size - 1)));
    for (int i = 0; i < size; i++) names.add("a" + i);
    assertEquals(names, told.cycle());
  }

  /** A job that asks {@code next} to run {@code job}. */
  private static Job asking(ActorWithReturn<Object, Object> next, Job job) {
    return new Job("to " + job.name(), () -> next.ask(job));
  }

  static Stream<String> kinds() {
    return KINDS.keySet().stream().sorted();
  }

  @Promise("4.18")
  @ParameterizedTest
  @MethodSource("kinds")
  void anyWaitClosesCycle(String kind) {
    var a = small("a");
    var b = worker("b");
    var gate = new Gate();
    var outcome = Job.start(a, new Job("outer", () -> b.ask(new Job("inner", () -> {
      gate.pass();
      return cycle(() -> KINDS.get(kind).on(a));
    }))));
    Patience.await(gate.entered);
    Job.waiting(a);

    gate.open();

    assertEquals(List.of("b", "a", "b"), assertInstanceOf(AskCycleException.class, Patience.value(outcome)).cycle());
  }

  @Promise("4.18")
  @ParameterizedTest
  @MethodSource("kinds")
  void anyWaitIsPartOfCycle(String kind) {
    var a = worker("a");
    var b = small("b");
    var gate = new Gate();
    var told = Job.start(b, new Job("closes it", () -> {
      gate.pass();
      return cycle(() -> a.ask("back"));
    }));
    Patience.await(gate.entered);
    var first = Job.start(a, Job.act("first", () -> KINDS.get(kind).on(b)));
    Job.waiting(a);

    gate.open();

    assertEquals(List.of("b", "a", "b"), assertInstanceOf(AskCycleException.class, Patience.value(told)).cycle());
    b.sendPoisonPill(); // some kinds wait for the end of b
    assertEquals("done", Patience.value(first));
  }

  @Promise("4.18")
  @Test
  void theTextNamesEveryActorAndEveryMessage() {
    var a = small("a");
    var b = worker("b");
    var c = worker("c");
    var text = new CompletableFuture<String>();
    var room = Job.act("room", () -> text.complete(cycle(() -> sendThree(a)).getMessage())).once(a, b);

    a.sendMessage(Job.act("outer", () -> b.ask(new Job("Balance[id=1]", () -> {
      c.sendMessage(room);
      c.waitForExit();
      return "done";
    }))));

    assertEquals(
        "this wait could never end: 'c' waits for 'a' (room for \"z\"), 'a' waits for 'b' (Balance[id=1]), 'b' waits "
            + "for 'c' (its end). Send without waiting, or answer with replyWhen",
        Patience.value(text));
    c.sendPoisonPill();
  }

  @Promise("4.18")
  @Test
  void requestThatWouldCloseCycleIsTakenBack() {
    var a = worker("a");
    var b = worker("b");
    var handled = new ArrayList<String>();

    var outcome = Job.start(a,
        asking(b, new Job("inner", () -> cycle(() -> a.ask(Job.act("never", () -> handled.add("never"))))).once(a)));

    assertInstanceOf(AskCycleException.class, Patience.value(outcome));
    assertEquals("next", a.ask("next"));
    assertEquals(List.of(), handled);
    assertEquals(1, scope.report().unhandled().get(DeadLetter.Reason.CANCELLED));
  }

  @Promise("4.18")
  @Test
  void futureThatWouldCloseCycleIsLeftUnchanged() {
    var a = worker("a");
    var b = worker("b");
    var future = new CompletableFuture<CompletableFuture<Object>>();

    Job.start(a, asking(b, Job.act("inner", () -> {
      var later = a.sendMessageReturn("later");
      cycle(later::get);
      future.complete(later);
    }).once(a)));

    assertEquals("later", Patience.value(Patience.value(future)));
  }

  /**
   * Otherwise the two would ask each other for ever: each request would be handled, and the handler
   * would ask again. That happens once more if both are told of the ring at the same time.
   */
  @Promise("4.18")
  @Test
  void handlerThatFailsWithCycleLeavesNoRequestBehind() {
    var partners = new AtomicReferenceArray<ActorWithReturn<Object, Object>>(2);
    for (int i = 0; i < 2; i++) {
      int other = 1 - i;
      partners.set(i, scope.named("partner" + i).onFailure(FailurePolicy.resume().withoutLog())
          .newActorWithReturn(
              (Object message) -> partners.get(other).sendMessageReturn(message).thenApply(x -> x).join()));
    }

    assertThrows(AskCycleException.class, () -> partners.get(0).ask("go"));

    assertTrue(scope.awaitQuiescence(Patience.LONG), scope::dump);
    assertTrue(scope.report().sent() <= 20, () -> scope.report().toString());
  }

  @Promise("4.18")
  @Test
  void handlersNestedOnOneThreadAreNamedToo() {
    var a = worker("a");
    var b = Job.worker(scope.named("b").strategy(Strategy.CALLER));
    var c = worker("c");
    var told = new CompletableFuture<AskCycleException>();
    var back = Job.act("back", () -> told.complete(cycle(() -> a.ask("x")))).once(a);

    Job.start(a, Job.act("outer", () -> b.sendMessage(asking(c, back))));

    assertEquals(List.of("c", "a", "b", "c"), Patience.value(told).cycle());
    assertTrue(told.join().getMessage().contains(
        "'c' waits for 'a' (\"x\"), 'a' waits for 'b' (to back), 'b' waits for 'c' (back)"), told.join().getMessage());
  }

  @Test
  void cycleThroughDirectExecutorIsFound() {
    var a = worker("a");
    var b = Job.worker(scope.named("b").strategy(Strategy.of(Runnable::run)));
    var c = worker("c");

    var outcome = Job.start(a, asking(b, asking(c, new Job("back", () -> cycle(() -> b.ask("x"))).once(a))));

    assertEquals(List.of("c", "b", "c"), assertInstanceOf(AskCycleException.class, Patience.value(outcome)).cycle());
  }

  /** While it waits for {@code b}, {@code a} runs the task, which its own thread has submitted. */
  @Promise("4.18")
  @Test
  void aTaskRunByAThreadThatWaitsDoesNotHideItsWait() {
    try (var pool = new ForkJoinPool(1)) {
      var a = Job.worker(scope.named("a").strategy(Strategy.of(pool)));
      var b = worker("b");
      var c = worker("c");
      var gate = new Gate();
      var told = Job.start(b, new Job("closes it", () -> {
        gate.pass();
        return cycle(() -> a.ask("back"));
      }));
      Patience.await(gate.entered);
      var asked = new CompletableFuture<Object>();
      var outcome = Job.start(a, new Job("outer", () -> {
        CompletableFuture.runAsync(() -> asked.complete(c.ask("x")), pool);
        return b.ask("y");
      }));
      Patience.value(asked);
      Job.waiting(a);

      gate.open();

      assertEquals(List.of("b", "a", "b"), assertInstanceOf(AskCycleException.class, Patience.value(told)).cycle());
      assertEquals("y", Patience.value(outcome));
    }
  }

  @Promise("4.18")
  @Test
  void cycleThroughInlineRequestsAndOtherThreadsIsFound() {
    var a = worker("a");
    var b = Job.worker(scope.named("b").inlineRequests());
    var c = worker("c");

    var outcome = Job.start(a, asking(b, asking(c, new Job("back", () -> cycle(() -> a.ask("x"))).once(a))));

    assertEquals(List.of("c", "a", "b", "c"),
        assertInstanceOf(AskCycleException.class, Patience.value(outcome)).cycle());
  }

  @Test
  void cycleOnSingleThreadIsNamedWhole() {
    var a = worker("a");
    var b = Job.worker(scope.named("b").inlineRequests());
    var c = Job.worker(scope.named("c").inlineRequests());

    var outcome = Job.start(a, asking(b, asking(c, new Job("back", () -> cycle(() -> a.ask("x"))))));

    assertEquals(List.of("c", "a", "b", "c"),
        assertInstanceOf(AskCycleException.class, Patience.value(outcome)).cycle());
  }

  @Promise("4.18")
  @Test
  void cycleThroughHookIsFound() {
    var a = worker("a");
    var b = worker("b");
    var outcome = new CompletableFuture<AskCycleException>();
    var gate = new Gate();
    b.sendMessage(Job.act("waits for the end of a", () -> {
      gate.pass();
      outcome.complete(cycle(a::waitForExit));
    }));
    Patience.await(gate.entered);
    a.closeOnExit(b);
    a.sendPoisonPill();
    Patience.eventually(() -> Inside.hooksWait(a));
    Patience.parked(Inside.hooksThread(a));

    gate.open();

    assertEquals(List.of("b", "a", "b"), Patience.value(outcome).cycle());
    Patience.ended(a::waitForExit);
  }

  @Test
  void cyclesAreFoundThroughHandMadeWaits() {
    var a = worker("a");
    var b = worker("b");

    var outcome = Job.start(a, asking(b, new Job("back", () -> {
      try (var wait = Wait.begin((Cell) a, Wait.END, ((Cell) a).extras().exit())) {
        return WaitCycle.findFor(wait).waits.toString();
      }
    }).once(a)));

    assertEquals("['b' waits for 'a' (its end), 'a' waits for 'b' (back)]", Patience.value(outcome));
    assertNull(Wait.begin((Cell) a, Wait.END, ((Cell) a).extras().exit()), "the test is no handler");
  }

  @Test
  void theExceptionNamesTheAskedActorAndTheRequest() {
    var a = worker("a");
    var b = worker("b");
    var x = new Object();

    var outcome = Job.start(a, asking(b, new Job("back", () -> cycle(() -> a.ask(x))).once(a)));

    var told = assertInstanceOf(AskCycleException.class, Patience.value(outcome));
    assertEquals("a", told.actor());
    assertSame(x, told.request());
  }
}
