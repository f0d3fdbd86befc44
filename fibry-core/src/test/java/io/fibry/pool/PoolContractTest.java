package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the promises of pools of every kind on every strategy. */
class PoolContractTest {
  record Variant(String label, Strategy strategy, UnaryOperator<ActorBuilder<Object>> kind) {
    ActorBuilder<Object> builder(ActorScope scope) {
      return kind.apply(scope.anonymous().strategy(strategy).onFailure(FailurePolicy.resume().withoutLog()));
    }

    /** Returns how many handlers can block at the same time: 2 on executors with two threads. */
    int maxBlocked() {
      return label.contains("of(") ? 2 : 3;
    }

    @Override
    public String toString() {
      return label;
    }
  }

  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope =
      ActorSystem.openScope("pools", o -> o.withDeadLetterListener(letters).withKillGrace(Patience.LONG));

  static Map<String, UnaryOperator<ActorBuilder<Object>>> kinds() {
    var kinds = new LinkedHashMap<String, UnaryOperator<ActorBuilder<Object>>>();
    kinds.put("perMessage", Pools::perMessage);
    kinds.put("fixed", builder -> Pools.fixed(builder, 3));
    kinds.put("scaling", builder -> Pools.scaling(builder, 1, 3));
    kinds.put("weighted",
        builder -> Pools.weighted(builder, 3,
            (Object message) -> message instanceof Gate ? 1 : 1 + message.hashCode() % 2));
    kinds.put("byKey",
        builder -> Pools.byKey(builder, 3, (Object message) -> message instanceof Integer n ? n % 5 : message));
    return kinds;
  }

  static Stream<Variant> variants() {
    return kinds().entrySet().stream().flatMap(kind -> Variants.STRATEGIES.entrySet().stream()
        .map(s -> new Variant(kind.getKey() + ", " + s.getKey(), s.getValue(), kind.getValue())));
  }

  @AfterEach
  void closeScopeAndCheckReport() {
    Gate.openAll();

    var report = scope.closeWithin(Patience.LONG);

    assertEquals(List.of(), report.unresponsive());
    assertEquals(0, report.queued());
  }

  private ActorWithReturn<Object, Object> echo(Variant variant) {
    return variant.builder(scope).newActorWithReturn((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
      if (message instanceof RuntimeException failure) throw failure;
      return message;
    });
  }

  @Promise("20.1")
  @ParameterizedTest
  @MethodSource("variants")
  void poolAnswersRequests(Variant variant) {
    var pool = echo(variant);

    var answers = IntStream.range(0, 20).mapToObj(pool::ask).toList();

    assertEquals(IntStream.range(0, 20).mapToObj(n -> (Object) n).toList(), answers);
  }

  @Promise("20.1")
  @ParameterizedTest
  @MethodSource("variants")
  void everyMessageIsHandledOnceAndReportCountsMatch(Variant variant) throws Exception {
    var handled = ConcurrentHashMap.<Object>newKeySet();
    var repeated = new CopyOnWriteArrayList<Object>();
    var pool = variant.builder(scope).newActor((Object message) -> {
      if (!handled.add(message)) repeated.add(message);
      if ((int) message % 10 == 0) throw new IllegalStateException("ten");
    });

    var senders = IntStream.range(0, 4)
        .mapToObj(
            s -> Patience.startFiber(() -> IntStream.range(0, 250).forEach(i -> pool.sendMessage(s * 250 + i))))
        .toList();
    Patience.progress(handled::size, () -> senders.stream().noneMatch(Thread::isAlive));
    senders.forEach(Patience::awaitEnd);
    pool.close();

    assertEquals(1000, handled.size());
    assertEquals(List.of(), repeated);
    var report = scope.report();
    assertEquals(List.of(1000L, 900L, 100L),
        List.of(report.sent(), report.handled(), report.unhandled().get(Reason.FAILED)));
    assertEquals(100, letters.messages(Reason.FAILED).size());
  }

  @Promise("20.1")
  @ParameterizedTest
  @MethodSource("variants")
  void failureReachesAskerAndNextMessageIsHandled(Variant variant) {
    var pool = echo(variant);
    var failure = new IllegalStateException("mine");

    assertSame(failure, assertThrows(IllegalStateException.class, () -> pool.ask((Object) failure)));
    assertEquals(2, pool.ask(2));
  }

  @Promise("20.1")
  @ParameterizedTest
  @MethodSource("variants")
  void poolRunsTasks(Variant variant) {
    var pool = echo(variant);
    var result = new CompletableFuture<String>();

    pool.execute(() -> result.complete("ran"));

    assertEquals("ran", Patience.value(result));
  }

  @Promise("20.8")
  @ParameterizedTest
  @MethodSource("variants")
  void poisonPillEndsPoolAfterWaitingMessages(Variant variant) {
    var handled = new AtomicInteger();
    ActorWithReturn<Object, Object> pool = variant.builder(scope).newActorWithReturn((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
      return handled.incrementAndGet();
    });
    // on CALLER a sender runs the handler, so the test would block at a gate
    if (variant.strategy == Strategy.CALLER) return;
    var gates = IntStream.range(0, variant.maxBlocked()).mapToObj(i -> Gate.occupy(pool)).toList();
    var sender = Patience.startFiber(() -> IntStream.range(0, 20).forEach(pool::sendMessage));
    Patience.awaitEnd(sender);

    pool.sendPoisonPill();
    gates.forEach(Gate::open);

    Patience.awaitEnd(pool::waitForExit);
    assertEquals(20 + variant.maxBlocked(), handled.get());
    assertInstanceOf(ExitReason.Finished.class, pool.onExit().join());
    assertFalse(pool.sendMessage(1));
    assertEquals(List.of(1), letters.messages(Reason.UNDELIVERED));
    assertThrows(ActorStoppedException.class, () -> pool.ask(1));
    assertThrows(RejectedExecutionException.class, () -> pool.execute(() -> {}));
  }

  @Promise("20.8")
  @ParameterizedTest
  @MethodSource("variants")
  void askExitEndsPoolAfterCurrentMessage(Variant variant) {
    var pool = echo(variant);
    var gate = new Gate();
    var answer = new CompletableFuture<Object>();
    Patience.startFiber(() -> pool.sendMessageReturn((Object) gate).thenAccept(answer::complete));
    Patience.await(gate.entered);

    pool.askExit();
    gate.open();

    Patience.awaitEnd(pool::waitForExit);
    assertSame(gate, Patience.value(answer));
    assertInstanceOf(ExitReason.Stopped.class, pool.onExit().join());
  }

  @Promise("20.8")
  @ParameterizedTest
  @MethodSource("variants")
  void killInterruptsCurrentHandlers(Variant variant) {
    boolean hasOwnThreads = variant.strategy == Strategy.FIBER || variant.strategy == Strategy.THREAD
        || variant.strategy == Strategy.RESIDENT_FIBER;
    if (!hasOwnThreads) return; // a kill does not interrupt the threads of the user's executors
    var pool = echo(variant);
    var gates = IntStream.range(0, 3).mapToObj(i -> new Gate()).toList();
    var answers = gates.stream().map(gate -> pool.sendMessageReturn((Object) gate)).toList();
    gates.forEach(gate -> Patience.await(gate.entered));

    pool.kill();

    Patience.awaitEnd(pool::waitForExit);
    assertInstanceOf(ExitReason.Killed.class, pool.onExit().join());
    answers.forEach(request -> assertInstanceOf(InterruptedException.class, Patience.failure(request)));
  }

  @Promise("20.2")
  @ParameterizedTest
  @MethodSource("variants")
  void stopHooksOfWorkersRunBeforeCloseOnExitOfPool(Variant variant) {
    var order = new CopyOnWriteArrayList<String>();
    var pool = variant.builder(scope).initialState(() -> "state").onStop(state -> order.add(state))
        .newActorWithReturn((String state, Object message) -> message).closeOnExit(() -> order.add("closed"));
    IntStream.range(0, 10).forEach(pool::ask);

    pool.close();

    assertEquals("closed", order.getLast());
    assertTrue(order.size() > 1);
    assertEquals(Set.of("state"), Set.copyOf(order.subList(0, order.size() - 1)));
  }

  @Promise("20.2")
  @ParameterizedTest
  @MethodSource("variants")
  void eachStateIsUsedByOneThreadAtATime(Variant variant) {
    var useCount = new AtomicInteger();
    var pool = variant.builder(scope).initialState(() -> new int[2]).onStop(state -> useCount.addAndGet(state[1]))
        .newActor((int[] state, Object message) -> {
          if (state[0]++ != 0) throw new AssertionError("two at once");
          Thread.yield();
          state[0]--;
          state[1]++;
        });

    var senders = IntStream.range(0, 4)
        .mapToObj(
            s -> Patience.startFiber(() -> IntStream.range(0, 100).forEach(i -> pool.sendMessage(s * 100 + i))))
        .toList();
    Patience.progress(() -> scope.report().handled(), () -> senders.stream().noneMatch(Thread::isAlive));
    senders.forEach(Patience::awaitEnd);
    pool.close();

    assertEquals(400, useCount.get());
    assertEquals(List.of(), letters.all);
  }

  @Promise("20.1")
  @ParameterizedTest
  @MethodSource("variants")
  void contextSelfIsThePool(Variant variant) {
    var selves = ConcurrentHashMap.newKeySet();
    var pool = variant.builder(scope)
        .newActorWithReturn((Object message, io.fibry.ActorContext<Object> context) -> selves.add(context.self()));

    IntStream.range(0, 6).forEach(pool::ask);

    assertEquals(Set.of(pool), selves);
  }

  @Promise("20.8")
  @ParameterizedTest
  @MethodSource("variants")
  void cancelledRequestIsNotHandled(Variant variant) {
    // in these pools no message waits in the mailbox, so no request can be cancelled before it is
    // handled
    if (variant.strategy == Strategy.CALLER || variant.label.startsWith("perMessage")) return;
    var handled = new CopyOnWriteArrayList<Object>();
    var pool = variant.builder(scope).newActorWithReturn((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
      handled.add(message);
      return message;
    });
    var gates = IntStream.range(0, variant.maxBlocked()).mapToObj(i -> Gate.occupy((Actor<Object>) pool)).toList();
    var requests = IntStream.range(0, 20).mapToObj(i -> pool.sendMessageReturn((Object) i)).toList();

    for (int i = 0; i < 20; i += 2) requests.get(i).cancel(true);
    gates.forEach(Gate::open);

    for (int i = 1; i < 20; i += 2) assertEquals(i, Patience.value(requests.get(i)));
    assertThrows(CancellationException.class, () -> requests.get(2).join());
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(10 + variant.maxBlocked(), handled.size());
    assertEquals(10, scope.report().unhandled().get(Reason.CANCELLED));
  }

  @ParameterizedTest
  @MethodSource("variants")
  void closingScopeHandlesQueuedRequestsAndEndsPool(Variant variant) {
    var pool = echo(variant);
    var latch = new CountDownLatch(1);
    pool.execute(latch::countDown);
    Patience.await(latch);
    var answers = new ArrayList<CompletableFuture<Object>>();
    for (int i = 0; i < 50; i++) answers.add(pool.sendMessageReturn((Object) i));

    var report = scope.closeWithin(Patience.LONG);

    assertTrue(pool.onExit().isDone());
    assertEquals(0, report.deadLetters().size());
    for (int i = 0; i < 50; i++) assertEquals(i, Patience.value(answers.get(i)));
  }
}
