package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Strategies that fail in every way. No actor may die of it, and no request may wait forever. */
class StrategyFaultTest {
  // a failing strategy is logged, each time with a stack
  private final Logged logged = new Logged();

  @AfterEach
  void openGates() {
    Gate.openAll();
    logged.close();
  }

  /** What a strategy does wrong now and then. */
  enum Fault {
    THROWS, TAKES_AND_THROWS, RUNS_TWICE, THROWS_AN_ERROR;

    void activate(Runnable activation) {
      if (this != THROWS && this != THROWS_AN_ERROR) Thread.ofVirtual().start(activation);
      if (this == RUNS_TWICE) Thread.ofVirtual().start(activation);
      else if (this == THROWS_AN_ERROR) throw new OutOfMemoryError("unable to create native thread (not really)");
      else throw new IllegalStateException("a strategy that fails");
    }
  }

  static Stream<Object[]> faults() {
    var boxes = List.of("unbounded", "bounded(64, BLOCK)", "priority", "unbounded, selective");
    return Stream.of(Fault.values()).flatMap(fault -> boxes.stream().map(box -> new Object[] {fault, box}));
  }

  @ParameterizedTest
  @MethodSource("faults")
  void randomlyFailingStrategyLosesNoMessage(Fault fault, String box) {
    long seed = StressHarness.seed();
    System.out.println(fault + " and " + box + ": -Dfibry.seed=" + seed);
    var random = new AtomicLong(seed);
    var mailbox = Variants.MAILBOXES.get(box);
    var order = new ArrayList<Integer>();
    var actor = ActorSystem.anonymous().strategy(activation -> {
      if (new SplittableRandom(random.incrementAndGet()).nextInt(4) == 0) fault.activate(activation);
      else Thread.ofVirtual().start(activation);
    }).mailbox(mailbox).newActorWithReturn((Object i) -> order.add((Integer) i));
    var answers = new ArrayList<CompletableFuture<Boolean>>();

    for (int i = 0; i < 2_000; i++) {
      if (i % 3 == 0) answers.add(actor.sendMessageReturn(i));
      else actor.sendMessage(i);
      if (i % 100 == 0) answers.getLast().join();
    }

    actor.close();
    for (var answer : answers) assertTrue(answer.isDone());
    assertEquals(Stream.iterate(0, i -> i + 1).limit(2_000).toList(), order);
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  void temporarilyFailingStrategyOnlyDelaysMessages(Fault fault) {
    var left = new AtomicInteger(6);
    var actor = ActorSystem.anonymous().strategy(activation -> {
      if (left.getAndDecrement() > 0) fault.activate(activation);
      else Thread.ofVirtual().start(activation);
    }).newActorWithReturn((Integer i) -> i + 1);

    int answer = Patience.value(actor.sendMessageReturn(1));

    assertEquals(2, answer);
  }

  @Test
  void rejectingPoolLosesNoMessage() throws Exception {
    try (var pool = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(1))) {
      var actors = Stream
          .generate(() -> ActorSystem.anonymous().strategy(Strategy.of(pool)).newActorWithReturn((Integer i) -> i))
          .limit(16).toList();
      var answers = new ArrayList<CompletableFuture<Integer>>();

      for (int i = 0; i < 500; i++) for (var actor : actors) answers.add(actor.sendMessageReturn(i));

      for (var answer : answers) Patience.value(answer);
      for (var actor : actors) actor.close();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"THROWS", "THROWS_AN_ERROR"})
  void anActorThatGetsNoThreadCanBeKilled(Fault fault) {
    var scope = Variants.scope(o -> o.withKillGrace(Duration.ofMillis(50)));
    var actor = scope.anonymous().strategy(fault::activate).newActorWithReturn((Integer i) -> i);
    var request = actor.sendMessageReturn(1);

    actor.kill();

    Patience.ended(actor::waitForExit);
    assertInstanceOf(ActorStoppedException.class, Patience.failure(request));
  }

  @Test
  void anActorThatGetsNoThreadCanBeAskedToExit() {
    var actor = ActorSystem.anonymous().strategy(Fault.THROWS::activate).newActorWithReturn((Integer i) -> i);
    var request = actor.sendMessageReturn(1);

    actor.askExit();

    Patience.ended(actor::waitForExit);
    assertInstanceOf(ActorStoppedException.class, Patience.failure(request));
  }

  @Test
  void anActorThatWaitsForABusyPoolCanBeKilled() {
    var pool = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());
    var gate = new Gate();
    pool.execute(gate::passDeaf);
    var actor = Variants.scope(o -> o.withKillGrace(Duration.ofMillis(50))).anonymous().strategy(Strategy.of(pool))
        .newActorWithReturn((Integer i) -> i);
    var request = actor.sendMessageReturn(1);

    actor.kill();

    Patience.ended(actor::waitForExit);
    assertInstanceOf(ActorStoppedException.class, Patience.failure(request));
    pool.shutdown();
  }

  @Test
  void anExecutorThatIsShutDownEndsItsActors() throws InterruptedException {
    var pool = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());
    var letters = new Letters();
    var actor = Variants.scope(letters).anonymous().strategy(Strategy.of(pool)).newActorWithReturn((Integer i) -> i);
    actor.ask(0);
    pool.shutdown();
    // otherwise the current activation may take the next message
    Patience.eventually(pool::isTerminated);

    var request = actor.sendMessageReturn(1);

    assertInstanceOf(ActorStoppedException.class, Patience.failure(request));
    Patience.ended(actor::waitForExit);
    var reason = assertInstanceOf(ExitReason.Failed.class, actor.onExit().join());
    assertInstanceOf(RejectedExecutionException.class, reason.cause());
  }
}
