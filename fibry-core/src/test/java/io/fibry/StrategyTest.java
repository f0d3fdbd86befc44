package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.DeadLetter.Reason;
import io.fibry.engine.cell.Inside;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class StrategyTest {
  private final Letters letters = new Letters();
  private final ActorScope scope = Variants.scope(letters);

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  static Stream<Strategy> own() {
    return Stream.of(Strategy.FIBER, Strategy.THREAD, Strategy.RESIDENT_FIBER);
  }

  // ---- the library's own

  @Promise({"6.1", "12.4"})
  @Test
  void fibersHaveAThreadOnlyWhileTheyWork() {
    var actor = scope.anonymous().newActorWithReturn((Object m) -> Thread.currentThread());

    var thread = actor.ask("who");

    assertTrue(thread.isVirtual());
    Patience.eventually(() -> !Inside.hasWorker(actor) && !thread.isAlive());
  }

  @Promise({"6.1", "12.4"})
  @Test
  void residentsKeepTheirThreadAndParkItWhileIdle() {
    for (var strategy : List.of(Strategy.THREAD, Strategy.RESIDENT_FIBER)) {
      var actor = scope.anonymous().strategy(strategy).newActorWithReturn((Object m) -> Thread.currentThread());

      var thread = actor.ask("who");

      assertEquals(strategy == Strategy.RESIDENT_FIBER, thread.isVirtual());
      Patience.eventually(() -> thread.getState() == Thread.State.WAITING);
      assertSame(thread, actor.ask("who"));
      actor.close();
      Patience.joined(thread);
    }
  }

  @Promise({"6.4", "13.1"})
  @ParameterizedTest
  @MethodSource("own")
  void handlersInheritNothingOfTheSender(Strategy strategy) {
    var user = new InheritableThreadLocal<String>();
    var actor = new CompletableFuture<ActorWithReturn<Object, List<Object>>>();
    var seen = new CompletableFuture<List<Object>>();
    var loader = new ClassLoader() {};
    var sender = Thread.ofPlatform().daemon().unstarted(() -> {
      user.set("Alice");
      Thread.currentThread().setContextClassLoader(loader);
      actor.complete(scope.anonymous().strategy(strategy).newActorWithReturn((Object m) -> {
        var mine = Thread.currentThread();
        return List.of(String.valueOf(user.get()), mine.getContextClassLoader() == loader, mine.isDaemon());
      }));
      seen.complete(actor.join().ask("who am I"));
    });

    sender.start();

    assertEquals(List.of("null", false, true), Patience.value(seen));
  }

  @Test
  void defaultStrategyAppliesToLaterActorsOnly() {
    var before = ActorSystem.anonymous().newActorWithReturn((Object m) -> Thread.currentThread().isVirtual());
    ActorSystem.setDefaultStrategy(Strategy.THREAD);
    try (var after = ActorSystem.anonymous().newActorWithReturn((Object m) -> Thread.currentThread().isVirtual())) {
      assertEquals(List.of(true, false), List.of(before.ask("?"), after.ask("?")));
    } finally {
      ActorSystem.setDefaultStrategy(Strategy.FIBER);
    }
  }

  // ---- the user's own

  @Promise("6.5")
  @Test
  void aStrategyThatThrowsIsCalledAgain() {
    var calls = new AtomicInteger();
    Strategy moody = activation -> {
      if (calls.incrementAndGet() < 4) throw new IllegalStateException("not now");
      Thread.startVirtualThread(activation);
    };
    try (var logged = new Logged()) {
      var actor = scope.named("patient").strategy(moody).newActorWithReturn((Object m) -> m);

      assertEquals("served", actor.ask("served"));

      assertEquals(4, calls.get());
      Patience.eventually(() -> logged.text().contains("patient") && logged.text().contains("not now"));
    }
  }

  @Promise("6.5")
  @Test
  void strategyThatRunsTaskAndThrowsHandlesOnce() {
    var seen = new CopyOnWriteArrayList<Object>();
    Strategy thrower = activation -> {
      Thread.startVirtualThread(activation);
      throw new IllegalStateException("taken, though");
    };
    var actor = scope.anonymous().strategy(thrower).newActor((Object m) -> {
      seen.add(m);
    });

    for (int i = 0; i < 20; i++) actor.sendMessage(i);
    actor.close();

    assertEquals(20, seen.size());
  }

  @Promise("6.5")
  @Test
  void aStrategyThatRunsTheTaskTwiceHandlesOnce() {
    var seen = new CopyOnWriteArrayList<Object>();
    var threads = new CopyOnWriteArrayList<Thread>();
    Strategy twice = activation -> {
      threads.add(Thread.startVirtualThread(activation));
      threads.add(Thread.startVirtualThread(activation));
    };
    var actor = scope.anonymous().strategy(twice).newActor((Object m) -> {
      seen.add(m);
    });

    for (int i = 0; i < 20; i++) actor.sendMessage(i);
    actor.close();
    threads.forEach(Patience::joined);

    assertEquals(20, seen.size());
  }

  @Promise("6.6")
  @Test
  void anExecutorThatIsShutDownEndsItsActors() {
    var executor = Executors.newSingleThreadExecutor();
    var actor = scope.anonymous().strategy(Strategy.of(executor)).newActorWithReturn((Object m) -> m);
    actor.ask("works");
    executor.close(); // waits for the activation, which could take the next message

    boolean taken = actor.sendMessage("too late");
    Patience.ended(actor::waitForExit);

    assertTrue(taken);
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

  static Stream<Arguments> dropped() {
    Map<String, UnaryOperator<ActorBuilder<Object>>> kinds = Map.of("plain", how -> how, "bounded",
        how -> how.mailbox(Mailbox.bounded(9, Overflow.REJECT)), "pool", how -> Pools.fixed(how, 2));
    return kinds.entrySet().stream().flatMap(kind -> Stream.of("message", "block", "pill", "exit")
        .map(next -> Arguments.of(Named.of(kind.getKey(), kind.getValue()), next)));
  }

  /** {@code shutdownNow} drops the activation, and tells nobody. */
  @Promise("6.6")
  @ParameterizedTest
  @MethodSource("dropped")
  void actorWithDroppedTaskEndsOnNextSend(UnaryOperator<ActorBuilder<Object>> kind, String next) {
    var executor = Executors.newFixedThreadPool(1);
    var gate = new Gate();
    executor.execute(gate::passDeaf);
    var actor = kind.apply(scope.anonymous().strategy(Strategy.of(executor))).newActorWithReturn((Object m) -> m);
    var waits = actor.sendMessageReturn("waits");
    executor.shutdownNow();

    switch (next) {
      case "message" -> actor.sendMessage("too late");
      case "block" -> sendBlock(actor);
      case "pill" -> actor.sendPoisonPill();
      default -> actor.askExit();
    }

    assertInstanceOf(ActorStoppedException.class, Patience.failure(waits));
    Patience.ended(actor::waitForExit);
    if (!next.equals("exit") && !next.equals("pill"))
      assertInstanceOf(ExitReason.Failed.class, actor.onExit().resultNow());
  }

  private static void sendBlock(Actor<Object> actor) {
    try {
      actor.sendMessages(List.of("too", "late"));
    } catch (UnsupportedOperationException ofAPool) {
      actor.sendMessage("too late");
    }
  }

  record Resident(RuntimeException failure) implements Strategy {
    @Override
    public void activate(Runnable activation) {
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
    var actor = scope.anonymous().strategy(new Resident(null)).newActorWithReturn((Object m) -> Thread.currentThread());

    assertSame(actor.ask("who"), actor.ask("who"));
    actor.close();
  }

  @Promise("6.7")
  @Test
  void failedResidentCreationThrowsAndFreesName() {
    var failure = new IllegalStateException("no thread left");
    var builder = scope.named("homeless").strategy(new Resident(failure));

    assertSame(failure, assertThrows(IllegalStateException.class, () -> builder.newActor((Object m) -> {})));

    assertEquals("here", builder.strategy(Strategy.FIBER).newActorWithReturn((Object m) -> m).ask("here"));
  }

  @Promise("6.3")
  @Test
  void busyActorsShareOnePoolThread() {
    var executor = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());
    var served = new CountDownLatch(1);
    var greedy =
        scope.anonymous().strategy(Strategy.of(executor)).newActor((Object m, ActorContext<Object> context) -> {
          if (served.getCount() > 0) context.self().sendMessage(m);
        });
    var modest = scope.anonymous().strategy(Strategy.of(executor)).newActor((Object m) -> served.countDown());

    greedy.sendMessage("for ever");
    modest.sendMessage("me too");

    Patience.await(served);
    greedy.close();
    executor.shutdown();
  }

  // ---- CALLER

  private ActorBuilder<Object> caller() {
    return scope.anonymous().strategy(Strategy.CALLER);
  }

  @Promise("6.8")
  @Test
  void callerHandlesBeforeSendMessageReturns() {
    var seen = new ArrayList<Object>();
    var actor = caller().newActor((Object m) -> {
      seen.add(Thread.currentThread());
    });

    actor.sendMessage("now");

    assertEquals(List.of(Thread.currentThread()), seen);
  }

  @Promise("6.8")
  @Test
  void callerStrategyNestsAtMost64Deep() {
    var handled = new boolean[200];
    var late = new ArrayList<Integer>(); // actors whose message was not handled at once
    var next = new ArrayList<Actor<Object>>();
    for (int i = 0; i < 200; i++) {
      int mine = i;
      next.add(caller().newActor((Object m) -> {
        handled[mine] = true;
        if (mine + 1 == 200) return;
        next.get(mine + 1).sendMessage(m);
        if (!handled[mine + 1]) late.add(mine);
      }));
    }

    next.getFirst().sendMessage("go");

    assertTrue(handled[199]);
    assertEquals(63, late.getFirst()); // the 64th is the first whose send returned before handling
  }

  @Promise("6.8")
  @Test
  void callerStrategyRunsAwaitedActorFirst() {
    var chain = new ArrayList<ActorWithReturn<Object, Integer>>();
    for (int i = 0; i < 150; i++) {
      int mine = i;
      chain.add(caller().newActorWithReturn((Object m) -> mine + 1 == 150 ? 1 : 1 + chain.get(mine + 1).ask(m)));
    }

    assertEquals(150, chain.getFirst().ask("how many"));
  }

  @Promise("6.8")
  @Test
  void callerStrategyLimitsNestingDuringWait() {
    int length = 20_000;
    var count = new AtomicInteger();
    var chain = new ArrayList<Actor<Object>>();
    for (int i = 0; i < length; i++) {
      int mine = i;
      chain.add(caller().newActor((Object m) -> {
        count.incrementAndGet();
        if (mine + 1 < length) chain.get(mine + 1).sendMessage(m);
      }));
    }
    var asked = caller().newActorWithReturn((Object m) -> chain.getFirst().sendMessage(m));
    var deep = new ArrayList<ActorWithReturn<Object, Boolean>>();
    for (int i = 0; i < 80; i++) {
      int mine = i;
      deep.add(caller().newActorWithReturn((Object m) -> mine + 1 < 80 ? deep.get(mine + 1).ask(m) : asked.ask(m)));
    }

    deep.getFirst().ask("go");

    assertEquals(length, count.get());
  }

  @Promise({"6.8", "12.1"})
  @Test
  void callerStrategyRunsSystemTimersOnVirtualThread() {
    var ran = new CompletableFuture<Thread>();
    var actor = caller().newActor((Object m) -> {
      ran.complete(Thread.currentThread());
    });

    actor.sendMessageLater("tick", Duration.ofMillis(1));

    assertTrue(Patience.value(ran).isVirtual());
  }

  @Test
  void executorThreadKeepsNoTraceOfActor() {
    var executor = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name("mine").factory());
    var actor = scope.named("guest").strategy(Strategy.of(executor))
        .newActorWithReturn((Object m) -> Thread.currentThread().getName());

    assertEquals("mine", actor.ask("who"));

    assertFalse(Patience.value(CompletableFuture.supplyAsync(Inside::handles, executor)));
  }
}
