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
import io.fibry.Gate;
import io.fibry.Job;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.Variants;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.Inside;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
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
 * Rings through pools: all workers that could end a wait are waiting too. One is told, which frees
 * the others.
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

  private ActorBuilder<Object> small(String name) {
    return scope.named(name).mailbox(Mailbox.bounded(2, Overflow.BLOCK));
  }

  private static AskCycleException cycle(Job.Act code) {
    return assertThrows(AskCycleException.class, code::run);
  }

  private static void fill(ActorWithReturn<Object, Object> pool) {
    for (String message : List.of("x", "y")) pool.sendMessage(message);
  }

  /** How many of these ended with the exception. */
  private static long told(List<CompletableFuture<Object>> outcomes) {
    return outcomes.stream().map(Patience::value).filter(AskCycleException.class::isInstance).count();
  }

  private static Job asking(ActorWithReturn<Object, Object> next, Job job) {
    return new Job("to " + job.name(), () -> next.ask(job));
  }

  // ---- full mailboxes

  @Test
  void aPoolOfOneThatSendsIntoItsOwnFullMailboxIsTold() {
    var pool = Job.worker(Pools.fixed(small("p"), 1));

    var told = Patience.value(Job.start(pool, Job.act("sends", () -> {
      fill(pool);
      pool.sendMessage("z");
    })));

    var ring = assertInstanceOf(AskCycleException.class, told);
    assertEquals(List.of("p/1", "p"), ring.cycle());
    assertEquals(
        "this wait could never end: 'p/1' waits for 'p' (room for \"z\"). Send without waiting, or answer with replyWhen",
        ring.getMessage());
  }

  static Stream<String> strategies() {
    return STRATEGIES.keySet().stream().sorted();
  }

  @Promise("4.18")
  @ParameterizedTest
  @MethodSource("strategies")
  void workerIsToldWhenAllSendIntoTheirOwnFullMailbox(String strategy) {
    for (int round = 0; round < 20; round++) {
      var pool = Job.worker(Pools
          .fixed(scope.anonymous().strategy(STRATEGIES.get(strategy)).mailbox(Mailbox.bounded(2, Overflow.BLOCK)), 3));
      var together = new CountDownLatch(3);
      var outcomes = IntStream.range(0, 3).mapToObj(i -> Job.start(pool, Job.act("sends", () -> {
        together.countDown();
        together.await();
        for (int n = 0; n < 3; n++) pool.sendMessage("x");
      }))).toList();

      assertTrue(told(outcomes) > 0);
      pool.close();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void workerIsToldWhenTwoFullPoolsSendToEachOther(int workers) {
    for (int round = 0; round < 20; round++) {
      var one = Job.worker(Pools.fixed(scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)), workers));
      var other = Job.worker(Pools.fixed(scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)), workers));
      var together = new CountDownLatch(2 * workers);
      var outcomes = new ArrayList<CompletableFuture<Object>>();
      for (int i = 0; i < workers; i++) {
        outcomes.add(Job.start(one, sending(together, other)));
        outcomes.add(Job.start(other, sending(together, one)));
      }

      assertTrue(told(outcomes) > 0);
      one.close();
      other.close();
    }
  }

  private static Job sending(CountDownLatch together, ActorWithReturn<Object, Object> to) {
    return Job.act("sends", () -> {
      together.countDown();
      together.await();
      for (int n = 0; n < 3; n++) to.sendMessage("x");
    });
  }

  @Promise("4.18")
  @Test
  void aSenderThatCannotGetRoomAnyMoreIsToldThen() {
    var pool = Job.worker(Pools.byKey(scope.named("p").mailbox(Mailbox.bounded(2, Overflow.BLOCK)), 2,
        (Object message) -> message.toString().substring(0, 1)));
    var slow = new Gate();
    var between = new CompletableFuture<Thread>();
    pool.sendMessage(Job.act("b slow", slow::pass));
    Patience.await(slow.entered);

    var outcome = Job.start(pool, Job.act("a", () -> {
      pool.sendMessage("a2"); // behind this message
      pool.sendMessage("b2"); // behind the slow message
      between.complete(Thread.currentThread());
      pool.sendMessage("a3");
      pool.sendMessage("a4");
    }));
    Patience.parked(Patience.value(between)); // no ring: the slow handler makes room
    slow.open();

    assertInstanceOf(AskCycleException.class, Patience.value(outcome));
  }

  @Promise("4.18")
  @Test
  void poolWithFreeWorkerHasNoCycle() {
    var pool = Job.worker(Pools.fixed(small("p"), 2));

    var outcome = Job.start(pool, Job.act("sends", () -> {
      for (int n = 0; n < 50; n++) pool.sendMessage("x");
    }));

    assertEquals("done", Patience.value(outcome));
  }

  // ---- answers

  @Test
  void aRequestThatAWorkerHasBegunLeadsToThatWorker() {
    var pool = Job.worker(Pools.fixed(scope.named("p"), 2));
    var a = Job.worker(scope.named("a"));

    var outcome = Job.start(a, asking(pool, new Job("back", () -> cycle(() -> a.ask("x"))).once(a)));

    assertEquals(List.of("p/1", "a", "p"), assertInstanceOf(AskCycleException.class, Patience.value(outcome)).cycle());
  }

  @Test
  void actorThatAsksPoolBackIsToldWhenAllWorkersWait() {
    var pool = Job.worker(Pools.fixed(scope.named("p"), 2));
    var a = Job.worker(scope.named("a"));
    var gate = new Gate();
    var told = new CompletableFuture<AskCycleException>();
    var first = Job.start(pool, asking(a, Job.act("asks the pool", () -> {
      gate.pass();
      told.complete(cycle(() -> pool.ask("x")));
    })));
    Patience.await(gate.entered);
    var second = Job.start(pool, asking(a, new Job("waits", () -> "waits")));
    Patience.eventually(() -> waiting(pool) == 2);

    gate.open();

    assertEquals(List.of("a", "p", "a"), Patience.value(told).cycle());
    assertEquals("done", Patience.value(first));
    assertEquals("waits", Patience.value(second));
  }

  /** How many of its workers have looked for a ring, and wait. */
  private static long waiting(Exitable pool) {
    return ((Cell) pool).workersAndSelf().stream().filter(Inside::waits).map(Inside::thread).filter(Objects::nonNull)
        .filter(Patience::isParked).count();
  }

  @Test
  void freeWorkerAnswersActorAskedByOtherWorker() {
    var pool = Job.worker(Pools.fixed(scope.named("p"), 2));
    var a = Job.worker(scope.named("a"));

    var outcome = Job.start(pool, asking(a, asking(pool, new Job("inner", () -> "answer"))));

    assertEquals("answer", Patience.value(outcome));
  }

  @Test
  void aPoolThatCanStillGrowAnswersItself() {
    var scaling = Job.worker(Pools.scaling(scope.anonymous(), 0, 4));
    var perMessage = Job.worker(Pools.perMessage(scope.anonymous()));

    assertEquals("end", Patience.value(Job.start(scaling, nested(scaling, 4))));
    assertEquals("end", Patience.value(Job.start(perMessage, nested(perMessage, 50))));
    assertInstanceOf(AskCycleException.class, Patience.value(Job.start(scaling, nested(scaling, 5))));
  }

  /** {@code depth} nested handlers of the pool, each waiting for the next. */
  private static Job nested(ActorWithReturn<Object, Object> pool, int depth) {
    return depth == 1 ? new Job("innermost", () -> "end") : asking(pool, nested(pool, depth - 1));
  }

  @Test
  void anAskBehindItsOwnKeyIsTold() {
    var pool = Job.worker(Pools.byKey(scope.named("p"), 3, (Object message) -> message.toString().substring(0, 1)));

    assertInstanceOf(AskCycleException.class, Patience.value(Job.start(pool, new Job("a", () -> pool.ask("a2")))));
    assertEquals("b2", Patience.value(Job.start(pool, new Job("a", () -> pool.ask("b2")))));
  }

  @Promise("4.18")
  @Test
  void anAskForThePermitsThatItHoldsIsTold() {
    var pool = Job.worker(Pools.weighted(scope.named("p"), 3, (Object message) -> message.toString().charAt(0) - '0'));

    assertInstanceOf(AskCycleException.class,
        Patience.value(Job.start(pool, new Job("2 of 3", () -> pool.ask("2 more")))));
    assertInstanceOf(AskCycleException.class,
        Patience.value(Job.start(pool, new Job("1 of 3", () -> pool.ask("3, all")))));
    assertEquals("2 others", Patience.value(Job.start(pool, new Job("1 of 3", () -> pool.ask("2 others")))));
  }

  @Test
  void anAskBehindAHeavyOneThatNeedsItsPermitsIsTold() {
    var pool = Job.worker(Pools.weighted(scope.named("p"), 2, (Object message) -> message.toString().charAt(0) - '0'));

    var outcome = Job.start(pool, new Job("1 of 2", () -> {
      pool.sendMessage("2, all");
      return pool.ask("1, behind it");
    }));

    assertInstanceOf(AskCycleException.class, Patience.value(outcome));
  }

  @Test
  void requestThatWouldCloseCycleIsTakenBack() {
    var pool = Job.worker(Pools.fixed(scope.named("p"), 2));
    var handled = new ArrayList<String>();
    var both = new CountDownLatch(2);
    var outcomes = IntStream.range(0, 2).mapToObj(i -> Job.start(pool, new Job("asks", () -> {
      both.countDown();
      both.await();
      return pool.ask(Job.act("inner", () -> handled.add("inner")));
    }))).toList();

    long told = told(outcomes);

    assertTrue(told > 0);
    assertEquals("next", pool.ask("next"));
    assertEquals(2 - told, handled.size());
    assertEquals(told, scope.report().unhandled().get(DeadLetter.Reason.CANCELLED));
  }

  // ---- ends

  @Test
  void aWaitForTheEndOfAPoolIsAWaitForEachOfItsWorkers() {
    var pool = Job.worker(Pools.fixed(scope.named("p"), 3));
    var a = Job.worker(scope.named("a"));
    var gate = new Gate();
    Job.start(pool, Job.act("holds nobody up", new Gate()::pass));
    var told = new CompletableFuture<AskCycleException>();
    var outcome = Job.start(pool, asking(a, Job.act("waits for the end", () -> {
      gate.pass();
      told.complete(cycle(pool::waitForExit));
    })));
    Patience.await(gate.entered);
    Patience.eventually(() -> waiting(pool) == 1);

    gate.open();

    assertEquals(List.of("a", "p", "a"), Patience.value(told).cycle());
    assertEquals("done", Patience.value(outcome));
  }

  @Test
  void aWorkerThatWaitsForTheEndOfItsPoolIsTold() {
    var pool = Job.worker(Pools.fixed(scope.named("p"), 3));

    assertInstanceOf(AskCycleException.class, Patience.value(Job.start(pool, Job.act("waits", pool::waitForExit))));
  }

  @Test
  void cycleThroughPoolHookIsFound() {
    var pool = Job.worker(Pools.fixed(scope.named("p"), 2));
    var b = Job.worker(scope.named("b"));
    var gate = new Gate();
    var told = new CompletableFuture<AskCycleException>();
    b.sendMessage(Job.act("waits for the end of p", () -> {
      gate.pass();
      told.complete(cycle(pool::waitForExit));
    }));
    Patience.await(gate.entered);
    pool.closeOnExit(b);
    pool.sendPoisonPill();
    Patience.eventually(() -> Inside.hooksWait(pool));
    Patience.parked(Inside.hooksThread(pool));

    gate.open();

    assertEquals(List.of("b", "p", "b"), Patience.value(told).cycle());
    Patience.ended(pool::waitForExit);
  }

  // ---- not ours

  @Test
  void cycleOfOtherWorkersIsNotReportedToOutsider() {
    var pool = Job.worker(Pools.fixed(scope.named("p"), 1));
    var a = Job.worker(scope.named("a"));
    var gate = new Gate();
    var told = new CompletableFuture<Object>();
    var slow = Job.act("slow", () -> { // as in a ring that its members have not found yet
      Patience.eventually(() -> waiting(pool) == 1);
      try (var wait = Wait.begin((Cell) (Exitable) pool, "by hand", ((Cell) pool).extras().exit())) {
        gate.pass();
        told.complete(WaitCycle.findFor(wait).waits.size());
      }
    });
    Job.start(pool, asking(a, slow));
    Patience.await(gate.entered);
    var c = Job.worker(scope.named("c"));
    var outcome = Job.start(c, new Job("asks the pool", () -> pool.ask("x")));
    Job.waiting(c);

    gate.open();

    assertEquals(2, Patience.value(told));
    assertEquals("x", Patience.value(outcome));
  }
}
