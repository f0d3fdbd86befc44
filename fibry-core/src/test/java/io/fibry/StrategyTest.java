package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.DeadLetter.Reason;
import io.fibry.engine.cell.ActorInternals;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class StrategyTest {
  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope = Variants.scope(letters);

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  static Stream<Strategy> libraryStrategies() {
    return Stream.of(Strategy.FIBER, Strategy.THREAD, Strategy.RESIDENT_FIBER);
  }

  // ---- strategies of the library

  @Promise({"6.1", "12.4"})
  @Test
  @Tag("jdk-scheduler")
  void fiberActorHasThreadOnlyWhileItWorks() {
    var actor = scope.anonymous().newActorWithReturn((Object m) -> Thread.currentThread());

    var thread = actor.ask("who");

    assertTrue(thread.isVirtual());
    Patience.eventually(() -> !ActorInternals.hasActivation(actor) && !thread.isAlive());
  }

  @Promise({"6.1", "12.4"})
  @Test
  void residentActorKeepsAndParksItsThreadWhileIdle() {
    for (var strategy : List.of(Strategy.THREAD, Strategy.RESIDENT_FIBER)) {
      var actor = scope.anonymous().strategy(strategy).newActorWithReturn((Object m) -> Thread.currentThread());

      var thread = actor.ask("who");

      assertEquals(strategy == Strategy.RESIDENT_FIBER, thread.isVirtual());
      Patience.eventually(() -> thread.getState() == Thread.State.WAITING);
      assertSame(thread, actor.ask("who"));
      actor.close();
      Patience.awaitEnd(thread);
    }
  }

  @Promise({"6.4", "13.1"})
  @ParameterizedTest
  @MethodSource("libraryStrategies")
  void handlerThreadInheritsNoThreadLocalOrClassLoaderOfSender(Strategy strategy) {
    var userName = new InheritableThreadLocal<String>();
    var actor = new CompletableFuture<ActorWithReturn<Object, List<Object>>>();
    var answer = new CompletableFuture<List<Object>>();
    var loader = new ClassLoader() {};
    var sender = Thread.ofPlatform().daemon().unstarted(() -> {
      userName.set("Alice");
      Thread.currentThread().setContextClassLoader(loader);
      actor.complete(scope.anonymous().strategy(strategy).newActorWithReturn((Object m) -> {
        var thread = Thread.currentThread();
        return List.of(String.valueOf(userName.get()), thread.getContextClassLoader() == loader, thread.isDaemon());
      }));
      answer.complete(actor.join().ask("who am I"));
    });

    sender.start();

    assertEquals(List.of("null", false, true), Patience.value(answer));
  }

  @Test
  void changedDefaultStrategyAppliesOnlyToActorsCreatedLater() {
    var earlier = ActorSystem.anonymous().newActorWithReturn((Object m) -> Thread.currentThread().isVirtual());
    ActorSystem.setDefaultStrategy(Strategy.THREAD);
    try (var later = ActorSystem.anonymous().newActorWithReturn((Object m) -> Thread.currentThread().isVirtual())) {
      assertEquals(List.of(true, false), List.of(earlier.ask("?"), later.ask("?")));
    } finally {
      ActorSystem.setDefaultStrategy(Strategy.FIBER);
    }
  }

  // ---- strategies of the user

  @Promise("6.5")
  @Test
  void strategyThatThrewIsCalledUntilItSucceeds() {
    var calls = new AtomicInteger();
    Strategy flakyStrategy = activation -> {
      if (calls.incrementAndGet() < 4) throw new IllegalStateException("not now");
      Thread.startVirtualThread(activation);
    };
    try (var logged = new Logged()) {
      var actor = scope.named("patient").strategy(flakyStrategy).newActorWithReturn((Object m) -> m);

      assertEquals("served", actor.ask("served"));

      assertEquals(4, calls.get());
      Patience.eventually(() -> logged.text().contains("patient") && logged.text().contains("not now"));
    }
  }

  @Promise("6.5")
  @Test
  void messageIsHandledOnceWhenStrategyRunsTaskAndThrows() {
    var handled = new CopyOnWriteArrayList<Object>();
    var calls = new AtomicInteger();
    // the thread may begin before or after the failure; in each third call, it has ended before
    Strategy throwingStrategy = activation -> {
      var thread = Thread.startVirtualThread(activation);
      if (calls.incrementAndGet() % 3 == 0) Patience.awaitEnd(thread);
      throw new IllegalStateException("thrown after the task was started");
    };
    var actor = scope.anonymous().strategy(throwingStrategy).newActor((Object m) -> {
      handled.add(m);
    });

    for (int i = 0; i < 20; i++) actor.sendMessage(i);
    actor.close();

    assertEquals(20, handled.size());
  }

  @Promise("6.5")
  @Test
  void messageIsHandledOnceWhenStrategyRunsTaskTwice() {
    var handled = new CopyOnWriteArrayList<Object>();
    var threads = new CopyOnWriteArrayList<Thread>();
    Strategy doublingStrategy = activation -> {
      threads.add(Thread.startVirtualThread(activation));
      threads.add(Thread.startVirtualThread(activation));
    };
    var actor = scope.anonymous().strategy(doublingStrategy).newActor((Object m) -> {
      handled.add(m);
    });

    for (int i = 0; i < 20; i++) actor.sendMessage(i);
    actor.close();
    threads.forEach(Patience::awaitEnd);

    assertEquals(20, handled.size());
  }

  @Promise("6.6")
  @Test
  void actorEndsAtNextMessageAfterExecutorShutdown() {
    var executor = Executors.newSingleThreadExecutor();
    var actor = scope.anonymous().strategy(Strategy.of(executor)).newActorWithReturn((Object m) -> m);
    actor.ask("works");
    executor.close(); // waits for the end of the current activation, which could take the next message

    boolean accepted = actor.sendMessage("too late");
    Patience.awaitEnd(actor::waitForExit);

    assertTrue(accepted);
    assertInstanceOf(RejectedExecutionException.class,
        assertInstanceOf(ExitReason.Failed.class, actor.onExit().resultNow()).cause());
    assertEquals(List.of("too late"), letters.messages(Reason.UNDELIVERED));
  }

  @Promise("6.6")
  @Test
  void requestFailsWhenExecutorIsShutDown() {
    var executor = Executors.newSingleThreadExecutor();
    executor.shutdown();
    var actor = scope.anonymous().strategy(Strategy.of(executor)).newActorWithReturn((Object m) -> m);

    var failure = assertThrows(ActorStoppedException.class, () -> actor.ask("anyone"));

    assertInstanceOf(RejectedExecutionException.class, failure.getCause());
  }

  static Stream<Arguments> droppedTaskCases() {
    Map<String, UnaryOperator<ActorBuilder<Object>>> variants = Map.of("plain", b -> b, "bounded",
        b -> b.mailbox(Mailbox.bounded(9, Overflow.REJECT)), "pool", b -> Pools.fixed(b, 2));
    return variants.entrySet().stream().flatMap(variant -> Stream.of("message", "batch", "pill", "exit")
        .map(action -> Arguments.of(Named.of(variant.getKey(), variant.getValue()), action)));
  }

  /**
   * {@code shutdownNow} drops the activation without notice. The next send notices that, and ends
   * the actor.
   */
  @Promise("6.6")
  @ParameterizedTest
  @MethodSource("droppedTaskCases")
  void actorEndsOnNextSendIfExecutorDroppedItsTask(UnaryOperator<ActorBuilder<Object>> variant, String action) {
    var executor = Executors.newFixedThreadPool(1);
    var gate = new Gate();
    executor.execute(gate::passUninterruptibly);
    var actor = variant.apply(scope.anonymous().strategy(Strategy.of(executor))).newActorWithReturn((Object m) -> m);
    var answer = actor.sendMessageReturn("waits");
    executor.shutdownNow();

    switch (action) {
      case "message" -> actor.sendMessage("too late");
      case "batch" -> sendBatch(actor);
      case "pill" -> actor.sendPoisonPill();
      default -> actor.askExit();
    }

    assertInstanceOf(ActorStoppedException.class, Patience.failure(answer));
    Patience.awaitEnd(actor::waitForExit);
    if (!action.equals("exit") && !action.equals("pill"))
      assertInstanceOf(ExitReason.Failed.class, actor.onExit().resultNow());
  }

  private static void sendBatch(Actor<Object> actor) {
    try {
      actor.sendMessages(List.of("too", "late"));
    } catch (UnsupportedOperationException poolRefusal) {
      actor.sendMessage("too late");
    }
  }

  record Resident(RuntimeException failure, AtomicInteger calls) implements Strategy {
    Resident(RuntimeException failure) {
      this(failure, new AtomicInteger());
    }

    @Override
    public void activate(Runnable activation) {
      calls.incrementAndGet();
      if (failure != null) throw failure;
      Thread.ofPlatform().daemon().start(activation);
    }

    @Override
    public boolean isResident() {
      return true;
    }
  }

  @Test
  void customResidentStrategyIsCalledOncePerActor() {
    var strategy = new Resident(null);
    var actor = scope.anonymous().strategy(strategy).newActorWithReturn((Object m) -> Thread.currentThread());

    assertSame(actor.ask("who"), actor.ask("who"));
    actor.close();
    assertEquals(1, strategy.calls.get());
  }

  @Promise("6.7")
  @Test
  void newActorThrowsAndFreesNameIfResidentStartFails() {
    var failure = new IllegalStateException("no thread left");
    var builder = scope.named("homeless").strategy(new Resident(failure));

    assertSame(failure, assertThrows(IllegalStateException.class, () -> builder.newActor((Object m) -> {})));

    assertEquals("here", builder.strategy(Strategy.FIBER).newActorWithReturn((Object m) -> m).ask("here"));
  }

  @Promise("6.3")
  @Test
  void busyActorDoesNotStarveActorOnSameExecutorThread() {
    var executor = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());
    var served = new CountDownLatch(1);
    var greedyActor =
        scope.anonymous().strategy(Strategy.of(executor)).newActor((Object m, ActorContext<Object> context) -> {
          if (served.getCount() > 0) context.self().sendMessage(m);
        });
    var modestActor = scope.anonymous().strategy(Strategy.of(executor)).newActor((Object m) -> served.countDown());

    greedyActor.sendMessage("for ever");
    modestActor.sendMessage("me too");

    Patience.await(served);
    greedyActor.close();
    executor.shutdown();
  }

  // ---- Strategy.CALLER

  private ActorBuilder<Object> caller() {
    return scope.anonymous().strategy(Strategy.CALLER);
  }

  @Promise("6.8")
  @Test
  void callerStrategyHandlesMessageBeforeSendReturns() {
    var threads = new ArrayList<Object>();
    var actor = caller().newActor((Object m) -> {
      threads.add(Thread.currentThread());
    });

    actor.sendMessage("now");

    assertEquals(List.of(Thread.currentThread()), threads);
  }

  @Promise("6.8")
  @Test
  void callerStrategyNestsSendsAtMost64Deep() {
    var handled = new boolean[200];
    var deferringSenders = new ArrayList<Integer>(); // actors whose send returned before the message was handled
    var actors = new ArrayList<Actor<Object>>();
    for (int i = 0; i < 200; i++) {
      int index = i;
      actors.add(caller().newActor((Object m) -> {
        handled[index] = true;
        if (index + 1 == 200) return;
        actors.get(index + 1).sendMessage(m);
        if (!handled[index + 1]) deferringSenders.add(index);
      }));
    }

    actors.getFirst().sendMessage("go");

    assertTrue(handled[199]);
    assertEquals(63, deferringSenders.getFirst()); // the 64th actor
  }

  @Promise("6.8")
  @Test
  void callerStrategyHandlesAsksNestedDeeperThan64() {
    var chain = new ArrayList<ActorWithReturn<Object, Integer>>();
    for (int i = 0; i < 150; i++) {
      int index = i;
      chain.add(caller().newActorWithReturn((Object m) -> index + 1 == 150 ? 1 : 1 + chain.get(index + 1).ask(m)));
    }

    assertEquals(150, chain.getFirst().ask("how many"));
  }

  @Promise("6.8")
  @Test
  void callerStrategyHandlesLongSendChainInsideNestedAsks() {
    int length = 20_000;
    var count = new AtomicInteger();
    var chain = new ArrayList<Actor<Object>>();
    for (int i = 0; i < length; i++) {
      int index = i;
      chain.add(caller().newActor((Object m) -> {
        count.incrementAndGet();
        if (index + 1 < length) chain.get(index + 1).sendMessage(m);
      }));
    }
    var chainStarter = caller().newActorWithReturn((Object m) -> chain.getFirst().sendMessage(m));
    var nested = new ArrayList<ActorWithReturn<Object, Boolean>>();
    for (int i = 0; i < 80; i++) {
      int index = i;
      nested.add(caller()
          .newActorWithReturn((Object m) -> index + 1 < 80 ? nested.get(index + 1).ask(m) : chainStarter.ask(m)));
    }

    nested.getFirst().ask("go");

    assertEquals(length, count.get());
  }

  @Promise({"6.8", "12.1"})
  @Test
  void callerStrategyRunsSystemTimersOnVirtualThread() {
    var timerThread = new CompletableFuture<Thread>();
    var actor = caller().newActor((Object m) -> {
      timerThread.complete(Thread.currentThread());
    });

    actor.sendMessageLater("tick", Duration.ofMillis(1));

    assertTrue(Patience.value(timerThread).isVirtual());
  }

  @Test
  void executorThreadCountsAsOutsideHandlerAfterActorAnswered() {
    var executor = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name("mine").factory());
    var actor = scope.named("guest").strategy(Strategy.of(executor))
        .newActorWithReturn((Object m) -> Thread.currentThread().getName());

    assertEquals("mine", actor.ask("who"));

    assertFalse(Patience.value(CompletableFuture.supplyAsync(ActorInternals::isInHandlerOrHook, executor)));
  }
}
