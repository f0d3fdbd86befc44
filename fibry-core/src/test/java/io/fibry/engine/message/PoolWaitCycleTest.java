package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorWithReturn;
import io.fibry.AskCycleException;
import io.fibry.DeadLetter;
import io.fibry.Exitable;
import io.fibry.Strategy;
import io.fibry.engine.cell.ActorInternals;
import io.fibry.engine.cell.Cell;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Job;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests wait cycles through pools: all workers that could end a wait are waiting, too. One of the
 * waiting handlers gets an exception, which frees the other handlers.
 */
class PoolWaitCycleTest {
  private static final Duration LONG = Duration.ofHours(1);
  private static final Map<String, Strategy> STRATEGIES = Map.of("FIBER", Strategy.FIBER, "THREAD", Strategy.THREAD,
      "RESIDENT_FIBER", Strategy.RESIDENT_FIBER, "of(executor)",
      Strategy.of(Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory())));

  private final ActorScope scope = Variants.scope(o -> o.withAskLimit(LONG));

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  private ActorBuilder<Object> boundedBuilder(String name) {
    return scope.named(name).mailbox(Mailbox.bounded(2, Overflow.BLOCK));
  }

  private static AskCycleException expectCycle(Job.Act code) {
    return assertThrows(AskCycleException.class, code::run);
  }

  private static void fill(ActorWithReturn<Object, Object> pool) {
    for (String message : List.of("x", "y")) pool.sendMessage(message);
  }

  /** Returns how many of the outcomes are exceptions of cycles. */
  private static long countCycles(List<CompletableFuture<Object>> outcomes) {
    return outcomes.stream().map(Patience::value).filter(AskCycleException.class::isInstance).count();
  }

  private static Job askJob(ActorWithReturn<Object, Object> next, Job job) {
    return new Job("to " + job.name(), () -> next.ask(job));
  }

  // ---- full mailboxes

  @Test
  void singleWorkerFailsWhenItSendsToFullMailboxOfItsPool() {
    var pool = Job.worker(Pools.fixed(boundedBuilder("p"), 1));

    var outcome = Patience.value(Job.start(pool, Job.act("sends", () -> {
      fill(pool);
      pool.sendMessage("z");
    })));

    var exception = assertInstanceOf(AskCycleException.class, outcome);
    assertEquals(List.of("p/1", "p"), exception.cycle());
    assertEquals(
        "this wait could never end: 'p/1' waits for 'p' (capacity for \"z\"). Send without waiting, or answer with replyWhen",
        exception.getMessage());
  }

  static Stream<String> strategies() {
    return STRATEGIES.keySet().stream().sorted();
  }

  @Promise("4.18")
  @ParameterizedTest
  @MethodSource("strategies")
  void workerFailsWhenAllWorkersSendToFullMailboxOfPool(String strategy) {
    for (int round = 0; round < 20; round++) {
      var pool = Job.worker(Pools
          .fixed(scope.anonymous().strategy(STRATEGIES.get(strategy)).mailbox(Mailbox.bounded(2, Overflow.BLOCK)), 3));
      var startLatch = new CountDownLatch(3);
      var outcomes = IntStream.range(0, 3).mapToObj(i -> Job.start(pool, Job.act("sends", () -> {
        startLatch.countDown();
        startLatch.await();
        for (int n = 0; n < 3; n++) pool.sendMessage("x");
      }))).toList();

      assertTrue(countCycles(outcomes) > 0);
      pool.close();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void workerFailsWhenTwoFullPoolsSendToEachOther(int workers) {
    for (int round = 0; round < 20; round++) {
      var poolA = Job.worker(Pools.fixed(scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)), workers));
      var poolB = Job.worker(Pools.fixed(scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)), workers));
      var startLatch = new CountDownLatch(2 * workers);
      var outcomes = new ArrayList<CompletableFuture<Object>>();
      for (int i = 0; i < workers; i++) {
        outcomes.add(Job.start(poolA, sendJob(startLatch, poolB)));
        outcomes.add(Job.start(poolB, sendJob(startLatch, poolA)));
      }

      assertTrue(countCycles(outcomes) > 0);
      poolA.close();
      poolB.close();
    }
  }

  private static Job sendJob(CountDownLatch startLatch, ActorWithReturn<Object, Object> target) {
    return Job.act("sends", () -> {
      startLatch.countDown();
      startLatch.await();
      for (int n = 0; n < 3; n++) target.sendMessage("x");
    });
  }

  @Promise("4.18")
  @Test
  void workerWaitingToSendFailsOnceNoOtherWorkerCanFreeCapacity() {
    var pool = Job.worker(Pools.byKey(scope.named("p").mailbox(Mailbox.bounded(2, Overflow.BLOCK)), 2,
        (Object message) -> message.toString().substring(0, 1)));
    var slowGate = new Gate();
    var senderThread = new CompletableFuture<Thread>();
    pool.sendMessage(Job.act("b slow", slowGate::pass));
    Patience.await(slowGate.entered);

    var outcome = Job.start(pool, Job.act("a", () -> {
      pool.sendMessage("a2"); // queued behind this message
      pool.sendMessage("b2"); // queued behind the slow message
      senderThread.complete(Thread.currentThread());
      pool.sendMessage("a3");
      pool.sendMessage("a4");
    }));
    Patience.awaitParked(Patience.value(senderThread)); // no cycle, because "b slow" can end
    slowGate.open();

    assertInstanceOf(AskCycleException.class, Patience.value(outcome));
  }

  @Promise("4.18")
  @Test
  void workerMaySendToItsFullPoolWhileOtherWorkerIsFree() {
    var pool = Job.worker(Pools.fixed(boundedBuilder("p"), 2));

    var outcome = Job.start(pool, Job.act("sends", () -> {
      for (int n = 0; n < 50; n++) pool.sendMessage("x");
    }));

    assertEquals("done", Patience.value(outcome));
  }

  // ---- answers

  @Test
  void cycleExceptionNamesWorkerThatHandlesRequest() {
    var pool = Job.worker(Pools.fixed(scope.named("p"), 2));
    var a = Job.worker(scope.named("a"));

    var outcome = Job.start(a, askJob(pool, new Job("back", () -> expectCycle(() -> a.ask("x"))).onceWaiting(a)));

    assertEquals(List.of("p/1", "a", "p"), assertInstanceOf(AskCycleException.class, Patience.value(outcome)).cycle());
  }

  @Test
  void askOfPoolFailsWhenAllItsWorkersWaitForAsker() {
    var pool = Job.worker(Pools.fixed(scope.named("p"), 2));
    var a = Job.worker(scope.named("a"));
    var gate = new Gate();
    var cycle = new CompletableFuture<AskCycleException>();
    var firstOutcome = Job.start(pool, askJob(a, Job.act("asks the pool", () -> {
      gate.pass();
      cycle.complete(expectCycle(() -> pool.ask("x")));
    })));
    Patience.await(gate.entered);
    var secondOutcome = Job.start(pool, askJob(a, new Job("waits", () -> "waits")));
    Patience.eventually(() -> countWaitingWorkers(pool) == 2);

    gate.open();

    assertEquals(List.of("a", "p", "a"), Patience.value(cycle).cycle());
    assertEquals("done", Patience.value(firstOutcome));
    assertEquals("waits", Patience.value(secondOutcome));
  }

  /** Returns how many workers of the pool have searched for a cycle and are parked. */
  private static long countWaitingWorkers(Exitable pool) {
    return ((Cell) pool).workersAndSelf().stream().filter(ActorInternals::isHandlerWaiting).map(ActorInternals::thread)
        .filter(Objects::nonNull)
        .filter(Patience::isParked).count();
  }

  @Test
  void freeWorkerAnswersActorAskedByOtherWorker() {
    var pool = Job.worker(Pools.fixed(scope.named("p"), 2));
    var a = Job.worker(scope.named("a"));

    var outcome = Job.start(pool, askJob(a, askJob(pool, new Job("inner", () -> "answer"))));

    assertEquals("answer", Patience.value(outcome));
  }

  @Test
  void poolThatCanGrowAnswersItsOwnWorkers() {
    var scalingPool = Job.worker(Pools.scaling(scope.anonymous(), 0, 4));
    var perMessagePool = Job.worker(Pools.perMessage(scope.anonymous()));

    assertEquals("end", Patience.value(Job.start(scalingPool, nestedJob(scalingPool, 4))));
    assertEquals("end", Patience.value(Job.start(perMessagePool, nestedJob(perMessagePool, 50))));
    assertInstanceOf(AskCycleException.class, Patience.value(Job.start(scalingPool, nestedJob(scalingPool, 5))));
  }

  /**
   * Returns a job for {@code depth} nested handlers of the pool, each of which waits for the next.
   */
  private static Job nestedJob(ActorWithReturn<Object, Object> pool, int depth) {
    return depth == 1 ? new Job("innermost", () -> "end") : askJob(pool, nestedJob(pool, depth - 1));
  }

  @Test
  void workerThatAsksItsPoolWithItsOwnKeyFails() {
    var pool = Job.worker(Pools.byKey(scope.named("p"), 3, (Object message) -> message.toString().substring(0, 1)));

    assertInstanceOf(AskCycleException.class, Patience.value(Job.start(pool, new Job("a", () -> pool.ask("a2")))));
    assertEquals("b2", Patience.value(Job.start(pool, new Job("a", () -> pool.ask("b2")))));
  }

  @Promise("4.18")
  @Test
  void askFailsIfItNeedsPermitsThatAskingHandlerHolds() {
    var pool = Job.worker(Pools.weighted(scope.named("p"), 3, (Object message) -> message.toString().charAt(0) - '0'));

    assertInstanceOf(AskCycleException.class,
        Patience.value(Job.start(pool, new Job("2 of 3", () -> pool.ask("2 more")))));
    assertInstanceOf(AskCycleException.class,
        Patience.value(Job.start(pool, new Job("1 of 3", () -> pool.ask("3, all")))));
    assertEquals("2 others", Patience.value(Job.start(pool, new Job("1 of 3", () -> pool.ask("2 others")))));
  }

  @Test
  void askFailsIfQueuedBehindMessageThatNeedsAskersPermits() {
    var pool = Job.worker(Pools.weighted(scope.named("p"), 2, (Object message) -> message.toString().charAt(0) - '0'));

    var outcome = Job.start(pool, new Job("1 of 2", () -> {
      pool.sendMessage("2, all");
      return pool.ask("1, behind the heavy message");
    }));

    assertInstanceOf(AskCycleException.class, Patience.value(outcome));
  }

  @Test
  void requestThatWouldCloseCycleIsWithdrawn() {
    var pool = Job.worker(Pools.fixed(scope.named("p"), 2));
    var handled = new ArrayList<String>();
    var startLatch = new CountDownLatch(2);
    var outcomes = IntStream.range(0, 2).mapToObj(i -> Job.start(pool, new Job("asks", () -> {
      startLatch.countDown();
      startLatch.await();
      return pool.ask(Job.act("inner", () -> handled.add("inner")));
    }))).toList();

    long cycles = countCycles(outcomes);

    assertTrue(cycles > 0);
    assertEquals("next", pool.ask("next"));
    assertEquals(2 - cycles, handled.size());
    assertEquals(cycles, scope.report().unhandled().get(DeadLetter.Reason.CANCELLED));
  }

  // ---- ends

  @Test
  void actorWaitingForPoolEndFailsIfWorkerWaitsForActor() {
    var pool = Job.worker(Pools.fixed(scope.named("p"), 3));
    var a = Job.worker(scope.named("a"));
    var gate = new Gate();
    Job.start(pool, Job.act("waits for no actor", new Gate()::pass));
    var cycle = new CompletableFuture<AskCycleException>();
    var outcome = Job.start(pool, askJob(a, Job.act("waits for the end", () -> {
      gate.pass();
      cycle.complete(expectCycle(pool::waitForExit));
    })));
    Patience.await(gate.entered);
    Patience.eventually(() -> countWaitingWorkers(pool) == 1);

    gate.open();

    assertEquals(List.of("a", "p", "a"), Patience.value(cycle).cycle());
    assertEquals("done", Patience.value(outcome));
  }

  @Test
  void workerThatWaitsForEndOfItsPoolFails() {
    var pool = Job.worker(Pools.fixed(scope.named("p"), 3));

    assertInstanceOf(AskCycleException.class, Patience.value(Job.start(pool, Job.act("waits", pool::waitForExit))));
  }

  @Test
  void cycleThroughExitHookOfPoolIsFound() {
    var pool = Job.worker(Pools.fixed(scope.named("p"), 2));
    var b = Job.worker(scope.named("b"));
    var gate = new Gate();
    var cycle = new CompletableFuture<AskCycleException>();
    b.sendMessage(Job.act("waits for the end of p", () -> {
      gate.pass();
      cycle.complete(expectCycle(pool::waitForExit));
    }));
    Patience.await(gate.entered);
    pool.closeOnExit(b);
    pool.sendPoisonPill();
    Patience.eventually(() -> ActorInternals.isHookWaiting(pool));
    Patience.awaitParked(ActorInternals.hooksThread(pool));

    gate.open();

    assertEquals(List.of("b", "p", "b"), Patience.value(cycle).cycle());
    Patience.awaitEnd(pool::waitForExit);
  }

  // ---- cycles of others

  @Test
  void outsiderThatAsksPoolInCycleGetsAnswer() {
    var pool = Job.worker(Pools.fixed(scope.named("p"), 1));
    var a = Job.worker(scope.named("a"));
    var gate = new Gate();
    var cycle = new CompletableFuture<Object>();
    // lets `a` wait for the pool without a search, so the cycle exists and has not been found
    var slowJob = Job.act("slow", () -> {
      Patience.eventually(() -> countWaitingWorkers(pool) == 1);
      try (var wait = Wait.begin((Cell) (Exitable) pool, "by hand", ((Cell) pool).extras().exit())) {
        gate.pass();
        cycle.complete(WaitCycle.findFor(wait).waits.size());
      }
    });
    Job.start(pool, askJob(a, slowJob));
    Patience.await(gate.entered);
    var c = Job.worker(scope.named("c"));
    var outcome = Job.start(c, new Job("asks the pool", () -> pool.ask("x")));
    Job.awaitWaits(c);

    gate.open();

    assertEquals(2, Patience.value(cycle));
    assertEquals("x", Patience.value(outcome));
  }
}
