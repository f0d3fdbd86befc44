package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.Gate;
import io.fibry.testing.LeakProbe;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that pools keep no handled messages, and that unreachable pools are garbage. */
class PoolLeakTest {
  private final Clock clock = new Clock();
  private final ActorScope manualScope = ActorSystem.openScope("still", o -> o.withScheduler(clock));

  @AfterEach
  void close() {
    Gate.openAll();
    manualScope.close();
  }

  static Stream<PoolContractTest.Variant> variants() {
    return PoolContractTest.variants();
  }

  /**
   * Sends messages, and returns weak references to them and their answers. This is a separate
   * method, because a stack frame keeps its local variables in memory.
   */
  private static List<WeakReference<?>> sendAndProbe(ActorWithReturn<Object, Object> pool) {
    var probes = new ArrayList<WeakReference<?>>();
    for (int i = 0; i < 10; i++) {
      var message = new Object();
      var answer = pool.sendMessageReturn(message);
      probes.add(new WeakReference<>(message));
      probes.add(new WeakReference<>(Patience.value(answer)));
      probes.add(new WeakReference<>(answer));
    }
    var plainMessage = new Object();
    pool.sendMessage(plainMessage);
    probes.add(new WeakReference<>(plainMessage));
    // the failing message is not an exception itself, because the JVM may keep the last exception
    // in memory
    var failingMessage = new StringBuilder("fails");
    var failedAnswer = pool.sendMessageReturn((Object) failingMessage);
    Patience.failure(failedAnswer);
    probes.add(new WeakReference<>(failingMessage));
    probes.add(new WeakReference<>(failedAnswer));
    return probes;
  }

  private static ActorWithReturn<Object, Object> newAnsweringPool(PoolContractTest.Variant variant, ActorScope scope) {
    return variant.builder(scope).onFailure(FailurePolicy.restart().withoutLog()).initialState(Object::new)
        .newActorWithReturn((Object state, Object message) -> {
          if (message instanceof StringBuilder) throw new IllegalStateException("planned");
          return new Object();
        });
  }

  @ParameterizedTest
  @MethodSource("variants")
  void idlePoolKeepsNoHandledMessages(PoolContractTest.Variant variant) {
    var pool = newAnsweringPool(variant, manualScope);

    var probes = sendAndProbe(pool);

    assertTrue(manualScope.awaitQuiescence(Patience.LONG));
    assertTrue(LeakProbe.collected(probes), () -> variant + " keeps " + IntStream.range(0, probes.size())
        .filter(i -> probes.get(i).get() != null).mapToObj(i -> i + " " + probes.get(i).get()).toList());
    assertEquals(1, Stream.of(pool).filter(known -> !known.onExit().isDone()).count());
  }

  @Test
  void completedFutureKeepsNeitherMessageNorKey() {
    var pool = Pools.byKey(manualScope.anonymous(), 2, (Object message) -> message)
        .newActorWithReturn((Object message) -> (Object) "answer");
    var probes = new ArrayList<WeakReference<?>>();

    var futures = Stream.generate(() -> send(pool, probes)).limit(10).toList();

    futures.forEach(Patience::value);
    assertTrue(manualScope.awaitQuiescence(Patience.LONG));
    assertTrue(LeakProbe.collected(probes));
    assertEquals("answer", futures.getFirst().join());
  }

  private static CompletableFuture<Object> send(ActorWithReturn<Object, Object> pool, List<WeakReference<?>> probes) {
    var message = new Object();
    probes.add(new WeakReference<>(message));
    return pool.sendMessageReturn(message);
  }

  @Test
  void cancelledRequestKeepsNeitherMessageNorKey() {
    var pool = Pools.byKey(manualScope.anonymous(), 1, (Object message) -> message)
        .newActorWithReturn((Object message) -> {
          if (message instanceof Gate gate) gate.pass();
          return new Object();
        });
    Gate.occupy((Actor<Object>) pool);
    var probes = new ArrayList<WeakReference<?>>();
    var futures = Stream.generate(() -> send(pool, probes)).limit(10).toList();

    futures.forEach(future -> future.cancel(true));

    assertTrue(LeakProbe.collected(probes));
    assertEquals(0, manualScope.report().queued());
  }

  @Test
  void unreferencedUsedPoolsAreGarbage() {
    var probes = new ArrayList<WeakReference<?>>();
    PoolContractTest.kinds().forEach((label, kind) -> {
      if (label.equals("fixed") || label.equals("byKey"))
        probes.add(new WeakReference<>(usedPool(new PoolContractTest.Variant(label, Strategy.FIBER, kind))));
    });

    assertTrue(LeakProbe.collected(probes));
  }

  private static Object usedPool(PoolContractTest.Variant variant) {
    var pool = variant.kind().apply(ActorSystem.anonymous().strategy(variant.strategy()))
        .newActorWithReturn((Object message) -> message);
    for (int i = 0; i < 20; i++) assertEquals(i, Patience.value(pool.sendMessageReturn((Object) i)));
    return pool;
  }

  @Test
  void threadsOfWorkersEndWithTheirPool() {
    for (var strategy : List.of(Strategy.THREAD, Strategy.RESIDENT_FIBER)) {
      var threads = new ConcurrentLinkedQueue<Thread>();
      var pool = Pools.fixed(manualScope.anonymous().strategy(strategy), 8).newActor((Object message) -> {
        threads.add(Thread.currentThread());
        if (message instanceof Gate gate) gate.pass();
      });
      var gates = Stream.generate(() -> Gate.occupy(pool)).limit(8).toList();
      gates.forEach(Gate::open);

      pool.close();

      threads.forEach(Patience::awaitEnd);
      assertEquals(8, threads.size());
    }
  }

  @Test
  void endedPoolLeavesNoTimer() {
    var pool = Pools.scaling(manualScope.anonymous(), 0, 4).newActorWithReturn((Object message) -> message);
    assertEquals(1, Patience.value(pool.sendMessageReturn((Object) 1)));
    assertTrue(manualScope.awaitQuiescence(Patience.LONG));
    var probe = new WeakReference<Object>(pool);

    pool.close();
    pool = null;

    assertTrue(LeakProbe.collected(probe)); // a timer of the clock would keep the pool in memory
  }
}
