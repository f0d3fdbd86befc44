package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests the promises that hold for one kind of pool only. */
class PoolsTest extends PoolFixture {
  // ---- fixed

  @Promise("20.3")
  @Test
  void fixedPoolHandlesAsManyMessagesAtOnceAsItHasWorkers() {
    var pool = Pools.fixed(builder, 3).newActor((Object message) -> pass(message));
    occupy(pool, 3);
    var fourthGate = new Gate();

    pool.sendMessage(fourthGate);

    assertEquals(1, scope.report().queued());
    assertEquals(1, fourthGate.entered.getCount());
  }

  @Promise("20.3")
  @Test
  void blockedWorkerDoesNotDelayOtherMessages() {
    var pool = echo(Pools.fixed(builder, 2));
    Gate.occupy((Actor<Object>) pool);

    var answers = IntStream.range(0, 100).mapToObj(pool::ask).toList();

    assertEquals(100, answers.size());
  }

  @Promise("20.3")
  @Test
  void onlyFailedWorkerGetsNewState() {
    var stateCount = new AtomicInteger();
    var pool = Pools.fixed(builder.onFailure(FailurePolicy.restart().withoutLog()), 2)
        .initialState(stateCount::incrementAndGet)
        .newActorWithReturn((Integer state, Object message) -> {
          pass(message);
          if (message instanceof RuntimeException failure) throw failure;
          return state;
        });
    var gate = Gate.occupy((Actor<Object>) pool); // occupies the worker with state 1
    assertEquals(2, pool.ask("two"));

    assertThrows(IllegalStateException.class, () -> pool.ask((Object) new IllegalStateException("two fails")));

    assertEquals(3, pool.ask("three"));
    gate.open();
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(3, stateCount.get());
  }

  @Promise("20.3")
  @Test
  void workerStoppedByItsPolicyIsReplaced() {
    var stopCount = new AtomicInteger();
    var pool = Pools.fixed(builder.onFailure(FailurePolicy.stop().withoutLog()), 2).initialState(() -> "state")
        .onStop(state -> stopCount.incrementAndGet()).newActorWithReturn((String state, Object message) -> {
          if (message.equals("fail")) throw new IllegalStateException("fail");
          return message;
        });

    for (int i = 0; i < 10; i++) assertThrows(IllegalStateException.class, () -> pool.ask("fail"));

    assertEquals("ok", pool.ask("ok"));
    assertFalse(pool.onExit().isDone());
    pool.close();
    assertEquals(11, stopCount.get());
  }

  @Promise("20.3")
  @Test
  void backoffSuspendsFailedWorkerAndOthersContinue() {
    var policy = FailurePolicy.restart().withBackoff(Duration.ofHours(1), Duration.ofHours(1)).withoutLog();
    var pool = Pools.byKey(manualScope.anonymous().onFailure(policy), 2, (String message) -> "one key")
        .initialState(() -> "state").newActorWithReturn((String state, String message) -> {
          if (message.equals("fail")) throw new IllegalStateException("fail");
          return message;
        });

    assertThrows(IllegalStateException.class, () -> pool.ask("fail"));

    assertEquals("ok", pool.ask("ok"));
  }

  @Test
  void escalatedFailureClosesTheScope() {
    var innerScope = scope.openScope("inner");
    var pool = Pools.fixed(innerScope.named("pool").onFailure(FailurePolicy.escalate().withoutLog()), 2)
        .newActor((Object message) -> {
          throw new IllegalStateException("fail");
        });

    pool.sendMessage("fail");

    Patience.awaitEnd(pool::waitForExit);
    assertInstanceOf(ExitReason.Stopped.class, pool.onExit().join());
  }

  // ---- per message

  @Promise("20.7")
  @Test
  void perMessagePoolGivesEachMessageItsOwnWorkerAndState() {
    var stateCount = new AtomicInteger();
    var stoppedStates = ConcurrentHashMap.newKeySet();
    var pool = Pools.perMessage(builder).initialState(stateCount::incrementAndGet).onStop(stoppedStates::add)
        .newActorWithReturn((Integer state, Object message) -> {
          pass(message);
          return state;
        });
    var gates = occupy(pool, 50);

    var answer = (int) pool.ask("one more");

    assertEquals(51, answer);
    gates.forEach(Gate::open);
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(51, stoppedStates.size());
    assertEquals(52, pool.ask("a fresh one"));
  }

  // ---- scaling

  @Promise("20.4")
  @Test
  void scalingPoolGrowsAtOnceAndShrinksWhenIdle() {
    var stoppedStates = new CopyOnWriteArrayList<Integer>();
    var stateCount = new AtomicInteger();
    var pool = Pools.scaling(manualScope.named("db"), 1, 4).initialState(stateCount::incrementAndGet)
        .onStop(stoppedStates::add)
        .newActor((Integer state, Object message) -> pass(message));
    var gates = occupy(pool, 4);
    pool.sendMessage("waits");
    assertEquals(1, manualScope.report().queued());

    gates.forEach(Gate::open);
    assertTrue(manualScope.awaitQuiescence(Patience.LONG));
    assertEquals(List.of(), stoppedStates);
    clock.manual.advance(Duration.ofSeconds(9));
    assertEquals(List.of(), stoppedStates);
    clock.manual.advance(Duration.ofSeconds(2));

    Patience.eventually(() -> stoppedStates.size() == 3);
    clock.manual.advance(Duration.ofHours(1));
    assertTrue(manualScope.awaitQuiescence(Patience.LONG));
    assertEquals(3, stoppedStates.size());
    pool.close();
    assertEquals(Set.of(1, 2, 3, 4), Set.copyOf(stoppedStates));
  }

  @Promise("20.4")
  @Test
  void idleScalingPoolGrowsAgain() {
    var pool = Pools.scaling(manualScope.anonymous(), 0, 2).initialState(() -> "state")
        .newActorWithReturn((String state, Object message) -> {
          pass(message);
          return message;
        });
    assertEquals(1, pool.ask(1));
    clock.manual.advance(Duration.ofSeconds(11));
    assertTrue(manualScope.awaitQuiescence(Patience.LONG));

    assertEquals(2, pool.ask(2));
    occupy(pool, 2);
  }

  @Promise("20.4")
  @Test
  void promisedAnswerArrivesAfterItsWorkerHasRetired() {
    record Question() implements io.fibry.Request<Question, String> {}
    var promise = new CompletableFuture<String>();
    Actor<Object> pool = Pools.scaling(manualScope.anonymous(), 0, 2).initialState(() -> "state")
        .newActor((state, message, context) -> context.replyWhen((Question) message, promise));
    var answer = pool.sendMessageReturn(new Question());
    assertTrue(manualScope.awaitQuiescence(Patience.LONG));

    clock.manual.advance(Duration.ofSeconds(11));
    assertTrue(manualScope.awaitQuiescence(Patience.LONG));
    promise.complete("late");

    assertEquals("late", Patience.value(answer));
  }

  // ---- weighted

  @Promise("20.5")
  @Test
  void lightMessageWaitsBehindHeavyMessageThatLacksPermits() {
    var order = new CopyOnWriteArrayList<Object>();
    var gates = Map.of(6, new Gate(), 10, new Gate());
    var pool = Pools.weighted(builder, 10, (Integer weight) -> weight).newActor((Integer weight) -> {
      order.add(weight);
      if (gates.containsKey(weight)) gates.get(weight).pass();
    });
    pool.sendMessage(6);
    Patience.await(gates.get(6).entered);

    pool.sendMessage(10); // this message needs more permits than are free
    pool.sendMessage(1); // this message needs no more permits than are free, but must wait behind the earlier message

    assertEquals(2, scope.report().queued());
    gates.get(6).open();
    Patience.await(gates.get(10).entered);
    gates.get(10).open();
    Patience.eventually(() -> order.size() == 3);
    assertEquals(List.of(6, 10, 1), order);
  }

  @Promise("20.5")
  @Test
  void lightMessagesBeginTogetherWhenHeavyMessageIsDone() {
    var heavyGate = new Gate();
    var lightLatch = new CountDownLatch(4);
    var pool = Pools.weighted(builder, 4, (Object message) -> message == heavyGate ? 4 : 1)
        .newActor((Object message) -> {
          pass(message);
          if (message == heavyGate) return;
          lightLatch.countDown();
          lightLatch.await(); // returns once all four are being handled
        });
    pool.sendMessage(heavyGate);
    Patience.await(heavyGate.entered);
    for (int i = 0; i < 4; i++) pool.sendMessage(i);

    heavyGate.open();

    Patience.await(lightLatch);
  }

  @Test
  void cancelOfHeavyRequestLetsLaterMessagesRun() {
    var pool = echo(Pools.weighted(builder, 4, (Object message) -> message.equals("heavy") ? 4 : 1));
    Gate.occupy((Actor<Object>) pool);
    var heavyAnswer = pool.sendMessageReturn((Object) "heavy");
    var lightAnswer = pool.sendMessageReturn((Object) "light");
    assertFalse(lightAnswer.isDone());

    heavyAnswer.cancel(true);

    assertEquals("light", Patience.value(lightAnswer));
  }

  @Promise("20.5")
  @Test
  void messageTooHeavyForPoolIsRefusedAtOnce() {
    var pool = Pools.weighted(scope.named("images"), 10, (Integer weight) -> weight).newActor(weight -> {});

    var tooHeavy = assertThrows(IllegalArgumentException.class, () -> pool.sendMessage(11));
    var weightless = assertThrows(IllegalArgumentException.class, () -> pool.sendMessage(0));

    assertEquals(
        "a message for actor 'images' weighs 11; it must weigh at least 1 and at most 10, all permits of the pool",
        tooHeavy.getMessage());
    assertEquals(
        "a message for actor 'images' weighs 0; it must weigh at least 1 and at most 10, all permits of the pool",
        weightless.getMessage());
  }

  @Test
  void tooHeavyTimerMessageIsDeadLetter() {
    var ownScope = ActorSystem.openScope("own", o -> o.withScheduler(clock).withDeadLetterListener(letters));
    var pool = Pools.weighted(ownScope.named("images"), 10, (Integer weight) -> weight).newActor(weight -> {});

    try (var logged = new Logged()) {
      pool.sendMessageLater(11, Duration.ofSeconds(1));
      clock.manual.advance(Duration.ofSeconds(1));

      assertTrue(logged.text().contains("weighs 11"), logged.text());
    }

    assertEquals(List.of(11), letters.messages(Reason.REJECTED));
    ownScope.close();
  }

  // ---- by key

  @Promise("20.6")
  @Test
  void messagesOfOtherKeysAreHandledWhileOneKeyIsBlocked() {
    var order = new CopyOnWriteArrayList<Object>();
    var pool = Pools.byKey(builder, 2, (Object message) -> message instanceof Gate ? 0 : (int) message % 10)
        .newActor((Object message) -> {
          pass(message);
          order.add(message);
        });
    var gate = Gate.occupy(pool);
    List.of(10, 1, 20, 11, 30, 21).forEach(pool::sendMessage);

    Patience.eventually(() -> order.size() == 3);
    assertEquals(List.of(1, 11, 21), order);

    gate.open();
    pool.close();
    assertEquals(List.of(10, 20, 30), order.subList(4, 7));
  }

  @Test
  void nullKeyIsRefused() {
    var pool = Pools.byKey(scope.named("orders"), 2, (String message) -> null).newActor(message -> {});

    var refusal = assertThrows(NullPointerException.class, () -> pool.sendMessage("x"));

    assertEquals("the key of a message for actor 'orders' was null; give each message a key", refusal.getMessage());
  }
}
