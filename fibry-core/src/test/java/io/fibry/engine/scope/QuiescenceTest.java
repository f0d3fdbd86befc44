package io.fibry.engine.scope;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests that a scope is quiet once no message waits, no handler runs and no timer is due. */
class QuiescenceTest extends QuietScopeFixture {
  private static final Duration SHORT = Duration.ofMillis(20);

  private Actor<Object> actor() {
    return scope.anonymous().newActor((Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      else log.add(m);
    });
  }

  @Test
  void scopeWithUnusedActorIsQuiet() {
    actor();

    assertTrue(scope.awaitQuiescence(Duration.ZERO));
  }

  @Promise("19.5")
  @Test
  void scopeIsNotQuietWhileHandlerRuns() {
    var gate = Gate.occupy(actor());

    assertFalse(scope.awaitQuiescence(SHORT));

    gate.open();
    assertTrue(scope.awaitQuiescence(Patience.LONG));
  }

  @Promise("19.5")
  @Test
  void scopeIsNotQuietWhileChildScopeHandlerRuns() {
    var inner = scope.openScope("inner").openScope("innermost");
    var gate = Gate.occupy(inner.anonymous().newActor((Object m) -> ((Gate) m).pass()));

    assertFalse(scope.awaitQuiescence(SHORT));

    gate.open();
    assertTrue(scope.awaitQuiescence(Patience.LONG));
  }

  @Promise("19.5")
  @Test
  void scopeIsNotQuietWhileExitHookRuns() {
    var gate = new Gate();
    actor().closeOnExit(gate::pass).askExit();
    Patience.await(gate.entered);

    assertFalse(scope.awaitQuiescence(SHORT));

    gate.open();
    assertTrue(scope.awaitQuiescence(Patience.LONG));
  }

  @Promise("19.5")
  @Test
  void quiescenceWaitsForMessagesSentByExitHook() {
    for (int i = 0; i < 200; i++) {
      log.clear();
      var receiver = actor();
      actor().closeOnExit(() -> receiver.sendMessage("from the hook")).askExit();

      assertTrue(scope.awaitQuiescence(Patience.LONG));

      assertEquals(List.of("from the hook"), log);
    }
  }

  @Promise("19.5")
  @Test
  void suspendedActorIsQuietOnlyWithManualClock() {
    var realTimeScope = ActorSystem.openScope("real");
    fail(realTimeScope, Duration.ofMinutes(10));
    fail(scope, Duration.ofSeconds(1));

    assertFalse(realTimeScope.awaitQuiescence(SHORT));
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    realTimeScope.closeWithin(Duration.ZERO);

    clock.advance(Duration.ofSeconds(1));
    assertTrue(scope.awaitQuiescence(Patience.LONG));
  }

  private static void fail(ActorScope owner, Duration backoff) {
    var policy = FailurePolicy.restart().withBackoff(backoff, backoff).withoutLog();
    owner.anonymous().onFailure(policy).newActor((Object m) -> {
      throw new IOException("planned");
    }).sendMessage("fail");
  }

  @Promise("19.5")
  @Test
  void quiescenceWaitsForChildScopeCloseAfterFailure() {
    for (int round = 0; round < 500; round++) {
      log.clear();
      var inner = scope.openScope("inner");
      for (int i = 0; i < 3; i++) inner.anonymous().newActor((Object m) -> {}).closeOnExit(() -> log.add("ended"));
      inner.anonymous().onFailure(FailurePolicy.escalate().withoutLog()).newActor((Object m) -> {
        throw new IOException("planned");
      }).sendMessage("fail");

      assertTrue(scope.awaitQuiescence(Patience.LONG));

      assertEquals(List.of("ended", "ended", "ended"), log, "in round " + round);
      assertTrue(inner.isClosed());
    }
  }

  @Promise("19.6")
  @Test
  void scopeIsQuietWhileItsCloseWaitsForSleepingHandler() {
    var inner = scope.openScope("inner", o -> o.withDrainLimit(Duration.ofMinutes(1)));
    inner.anonymous().newActor((Object m) -> log.add("handled before the failure")).sendMessage("a");
    var sleeper = inner.anonymous().newActor((Object m) -> clock.sleep(Duration.ofSeconds(1)));
    sleeper.sendMessage("sleep");
    sleeper.sendMessage("sleep again");
    inner.anonymous().onFailure(FailurePolicy.escalate().withoutLog()).newActor((Object m) -> {
      throw new IOException("planned");
    }).sendMessage("fail");

    for (int message = 0; message < 2; message++) {
      assertTrue(scope.awaitQuiescence(Patience.LONG));
      assertTrue(inner.isClosed());
      assertFalse(sleeper.onExit().isDone());
      clock.advance(Duration.ofSeconds(1));
    }

    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertTrue(sleeper.onExit().isDone());
    assertEquals(List.of(), scope.actors());
  }

  @Promise("19.6")
  @Test
  void pendingTimerDoesNotPreventQuiescence() {
    actor().sendMessageLater("later", Duration.ofSeconds(1));

    assertTrue(scope.awaitQuiescence(Duration.ZERO));
    clock.advance(Duration.ofSeconds(1));
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(List.of("later"), log);
  }

  @Promise("19.5")
  @Test
  void quiescenceWaitsForDueSystemTimer() {
    var realTimeScope = ActorSystem.openScope("real");
    for (int i = 0; i < 200; i++) {
      // the selective mailbox is guarded, so the timer lets another thread send
      var mailbox = i % 2 == 0 ? Mailbox.unbounded() : Mailbox.unbounded().selective();
      var messageCount = new AtomicInteger();
      var actor = realTimeScope.anonymous().mailbox(mailbox).newActor((Object m) -> messageCount.incrementAndGet());
      actor.sendMessageLater("soon", Duration.ofMillis(1));
      long start = System.nanoTime();
      while (System.nanoTime() - start < 1_000_000) Thread.onSpinWait();

      assertTrue(realTimeScope.awaitQuiescence(Patience.LONG));

      assertEquals(1, messageCount.get(), "in round " + i);
    }
    realTimeScope.close();
  }

  record Get(String key) implements Request<Get, String> {}

  @Promise("19.5")
  @Test
  void quiescenceWaitsForCodeChainedToAnswer() {
    for (int round = 0; round < 500; round++) {
      log.clear();
      var gate = new Gate();
      var actor = scope.anonymous().newActorWithReturn((Object m) -> {
        gate.pass();
        return m;
      });
      actor.sendMessageReturn("answer").thenAccept(log::add);
      gate.open();

      assertTrue(scope.awaitQuiescence(Patience.LONG));

      assertEquals(List.of("answer"), log, "in round " + round);
    }
  }

  @Promise("19.5")
  @Test
  void quiescenceWaitsForDeadLetterListenerCalledByTimer() {
    var listenerGate = new Gate();
    try (var realTimeScope = ActorSystem.openScope("real", o -> o.withDeadLetterListener(letter -> {
      if (letter.message().equals("refused")) listenerGate.passUninterruptibly();
    }))) {
      var fullActor = realTimeScope.anonymous().mailbox(Mailbox.bounded(1, Overflow.REJECT)).newActor((Object m) -> {
        if (m instanceof Gate gate) gate.pass();
      });
      var gate = Gate.occupy(fullActor);
      fullActor.sendMessage("fills the mailbox");
      fullActor.sendMessageLater("refused", Duration.ofMillis(1));
      Patience.await(listenerGate.entered);
      gate.open();
      Patience.eventually(() -> realTimeScope.report().handled() == 2);

      assertFalse(realTimeScope.awaitQuiescence(SHORT));

      listenerGate.open();
      assertTrue(realTimeScope.awaitQuiescence(Patience.LONG));
    }
  }

  @Promise("19.6")
  @Test
  void promisedAnswerDoesNotPreventQuiescence() {
    var promise = new CompletableFuture<String>();
    var actor = scope.anonymous().protocol(Get.class)
        .newActor((Get get, ActorContext<Get> context) -> context.replyWhen(get, promise));
    var answer = actor.sendMessageReturn(new Get("a"));

    assertTrue(scope.awaitQuiescence(Patience.LONG));

    assertFalse(answer.isDone());
    promise.complete("fulfilled");
    assertEquals("fulfilled", Patience.value(answer));
  }

  @Promise("19.6")
  @Test
  void stashedMessageDoesNotPreventQuiescence() {
    var actor = scope.anonymous().mailbox(Mailbox.unbounded().selective())
        .newActor((Object m, ActorContext<Object> context) -> context.stash());
    actor.sendMessage("stashed");

    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(1, scope.report().queued());
  }

  @Promise("19.5")
  @Test
  void quiescenceWaitsForMessageForwardedBetweenActors() {
    long seed = StressRuns.seed();
    System.out.println("quiet scopes: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    for (int round = 0; round < 100; round++) {
      var messageCount = new AtomicInteger();
      int hops = 1 + random.nextInt(60);
      var actors = new ArrayList<Actor<Integer>>();
      for (int i = 0; i < 5; i++) actors.add(newForwarder(actors, messageCount, i % 2 == 0));
      actors.getFirst().sendMessage(hops);

      assertTrue(scope.awaitQuiescence(Patience.LONG));

      assertEquals(hops + 1, messageCount.get());
    }
  }

  /**
   * Creates an actor that sends the message on to another actor. If {@code isStashing}, it then
   * stashes the message, which is no outcome.
   */
  private Actor<Integer> newForwarder(List<Actor<Integer>> actors, AtomicInteger messageCount, boolean isStashing) {
    return scope.anonymous().mailbox(Mailbox.unbounded().selective())
        .newActor((Integer remainingHops, ActorContext<Integer> context) -> {
          messageCount.incrementAndGet();
          if (remainingHops > 0) actors.get(remainingHops % actors.size()).sendMessage(remainingHops - 1);
          if (isStashing) context.stash();
        });
  }

  /**
   * {@code awaitQuiescence} compares the activity counts before and after its checks. A handler
   * that leaves its message without an outcome, for example by a stash, must change this count.
   */
  @Test
  void stashedMessageIncreasesActivityCount() {
    var accounts = Scopes.accounts(scope);
    var actor = scope.anonymous().mailbox(Mailbox.unbounded().selective())
        .newActor((Object m, ActorContext<Object> context) -> context.stash());
    long countBefore = accounts.activityCount();

    actor.sendMessage("stashed");

    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertTrue(accounts.activityCount() > countBefore);
    assertEquals(0, scope.report().handled());
  }

  @Promise("19.5")
  @Test
  void interruptCancelsAwaitQuiescenceAndKeepsInterruptFlag() {
    Gate.occupy(actor());
    var interruptFlag = new CompletableFuture<Boolean>();
    var waiter = Patience.startFiber(() -> {
      assertThrows(CancellationException.class, () -> scope.awaitQuiescence(Patience.LONG));
      interruptFlag.complete(Thread.currentThread().isInterrupted());
    });

    waiter.interrupt();

    assertTrue(Patience.value(interruptFlag), "the interrupt flag is lost");
  }

  @Test
  void closedScopeIsQuiet() {
    actor();

    scope.close();

    assertTrue(scope.awaitQuiescence(Patience.LONG));
  }
}
