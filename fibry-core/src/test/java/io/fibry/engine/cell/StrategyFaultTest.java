package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.ExitReason;
import io.fibry.Strategy;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.StressRuns;
import io.fibry.testing.Variants;
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

/**
 * Tests actors whose strategy fails. Each request gets an outcome, and the actor survives, unless
 * its executor was shut down.
 */
class StrategyFaultTest {
  // hides the many log entries of failing strategies
  private final Logged logged = new Logged();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    logged.close();
  }

  /** A fault of a strategy. */
  enum Fault {
    THROWS, RUNS_AND_THROWS, RUNS_TWICE, THROWS_ERROR, OVERFLOWS;

    void activate(Runnable activation) {
      if (this == RUNS_AND_THROWS || this == RUNS_TWICE) Thread.ofVirtual().start(activation);
      if (this == RUNS_TWICE) Thread.ofVirtual().start(activation);
      else if (this == THROWS_ERROR) throw new OutOfMemoryError("unable to create native thread (planned)");
      else if (this == OVERFLOWS) throw new StackOverflowError("planned");
      else throw new IllegalStateException("a strategy that fails");
    }
  }

  static Stream<Object[]> faults() {
    var mailboxes = List.of("unbounded", "bounded(64, BLOCK)", "priority", "unbounded, selective");
    return Stream.of(Fault.values()).flatMap(fault -> mailboxes.stream().map(name -> new Object[] {fault, name}));
  }

  @ParameterizedTest
  @MethodSource("faults")
  void randomlyFailingStrategyLosesNoMessage(Fault fault, String mailboxName) {
    long seed = StressRuns.seed();
    System.out.println(fault + " and " + mailboxName + ": -Dfibry.seed=" + seed);
    var nextSeed = new AtomicLong(seed);
    var mailbox = Variants.MAILBOXES.get(mailboxName);
    var handled = new ArrayList<Integer>();
    var actor = ActorSystem.anonymous().strategy(activation -> {
      if (new SplittableRandom(nextSeed.incrementAndGet()).nextInt(4) == 0) fault.activate(activation);
      else Thread.ofVirtual().start(activation);
    }).mailbox(mailbox).newActorWithReturn((Object i) -> handled.add((Integer) i));
    var answers = new ArrayList<CompletableFuture<Boolean>>();

    for (int i = 0; i < 2_000; i++) {
      if (i % 3 == 0) answers.add(actor.sendMessageReturn(i));
      else actor.sendMessage(i);
      if (i % 100 == 0) answers.getLast().join();
    }

    actor.close();
    for (var answer : answers) assertTrue(answer.isDone());
    assertEquals(Stream.iterate(0, i -> i + 1).limit(2_000).toList(), handled);
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  void temporarilyFailingStrategyOnlyDelaysMessages(Fault fault) {
    var remainingFaults = new AtomicInteger(6);
    var actor = ActorSystem.anonymous().strategy(activation -> {
      if (remainingFaults.getAndDecrement() > 0) fault.activate(activation);
      else Thread.ofVirtual().start(activation);
    }).newActorWithReturn((Integer i) -> i + 1);

    int answer = Patience.value(actor.sendMessageReturn(1));

    assertEquals(2, answer);
  }

  @Test
  void executorThatRejectsTasksLosesNoRequest() throws Exception {
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
  @EnumSource(names = {"THROWS", "THROWS_ERROR", "OVERFLOWS"})
  void actorWithoutThreadCanBeKilled(Fault fault) {
    var scope = Variants.scope(o -> o.withKillGrace(Duration.ofMillis(50)));
    var actor = scope.anonymous().strategy(fault::activate).newActorWithReturn((Integer i) -> i);
    var request = actor.sendMessageReturn(1);

    actor.kill();

    Patience.awaitEnd(actor::waitForExit);
    assertInstanceOf(ActorStoppedException.class, Patience.failure(request));
  }

  @ParameterizedTest
  @EnumSource(names = {"THROWS", "THROWS_ERROR", "OVERFLOWS"})
  void failingStrategyIsLogged(Fault fault) {
    String name = "without thread: " + fault;
    var actor = Variants.scope(o -> o).named(name).strategy(fault::activate).newActorWithReturn((Integer i) -> i);

    actor.sendMessage(1);

    Patience.eventually(() -> !logged.lines("actor '" + name + "' got no thread").isEmpty());
    actor.kill();
  }

  @ParameterizedTest
  @EnumSource(names = {"THROWS", "OVERFLOWS"})
  void actorWithoutThreadCanBeAskedToExit(Fault fault) {
    var actor = ActorSystem.anonymous().strategy(fault::activate).newActorWithReturn((Integer i) -> i);
    var request = actor.sendMessageReturn(1);

    actor.askExit();

    Patience.awaitEnd(actor::waitForExit);
    assertInstanceOf(ActorStoppedException.class, Patience.failure(request));
  }

  @Test
  void actorWaitingForBusyExecutorCanBeKilled() {
    var pool = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());
    var gate = new Gate();
    pool.execute(gate::passUninterruptibly);
    var actor = Variants.scope(o -> o.withKillGrace(Duration.ofMillis(50))).anonymous().strategy(Strategy.of(pool))
        .newActorWithReturn((Integer i) -> i);
    var request = actor.sendMessageReturn(1);

    actor.kill();

    Patience.awaitEnd(actor::waitForExit);
    assertInstanceOf(ActorStoppedException.class, Patience.failure(request));
    pool.shutdown();
  }

  @Test
  void actorEndsAtNextRequestAfterExecutorShutdown() throws InterruptedException {
    var pool = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());
    var letters = new RecordedLetters();
    var actor = Variants.scope(letters).anonymous().strategy(Strategy.of(pool)).newActorWithReturn((Integer i) -> i);
    actor.ask(0);
    pool.shutdown();
    // waits for the end of the current activation, which could take the next message
    Patience.eventually(pool::isTerminated);

    var request = actor.sendMessageReturn(1);

    assertInstanceOf(ActorStoppedException.class, Patience.failure(request));
    Patience.awaitEnd(actor::waitForExit);
    var reason = assertInstanceOf(ExitReason.Failed.class, actor.onExit().join());
    assertInstanceOf(RejectedExecutionException.class, reason.cause());
  }
}
