package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Handler;
import io.fibry.engine.scope.Scopes;
import io.fibry.flow.Generator.Output;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Gate;
import io.fibry.testing.LeakProbe;
import io.fibry.testing.Promise;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that an unreferenced iteration ends its producers unless a reader waits in it. */
class GeneratorLeakTest {
  private static final int CALLS = Soak.ON ? 20_000 : 4_000;

  private final ActorScope scope = ActorSystem.openScope("generators");

  @AfterEach
  void awaitActorsAndCloseScope() {
    Gate.openAll();
    Scopes.awaitNoActors(scope);
    scope.close();
  }

  /** Returns a producer that yields forever, and counts the latch down when it ends. */
  private static Handler<Output<Integer>> endlessProducer(CountDownLatch endLatch) {
    return out -> {
      try {
        for (int i = 0;; i++) out.yield(i);
      } finally {
        endLatch.countDown();
      }
    };
  }

  @Promise("22.6")
  @Test
  void unreferencedIterationEndsItsProducers() {
    var endLatch = new CountDownLatch(3);
    var generator = Generator.of(scope.anonymous(), 1, endlessProducer(endLatch));

    for (int i : generator) if (i == 3) break;
    int firstMatch = generator.stream().filter(i -> i > 5).findFirst().orElseThrow();
    long limitedCount = generator.stream().limit(3).count();

    assertEquals(List.of(6L, 3L), List.of((long) firstMatch, limitedCount));
    assertTrue(LeakProbe.eventually(() -> endLatch.getCount() == 0));
  }

  @Test
  void garbageCollectionDoesNotEndIterationOfWaitingReader() {
    var gate = new Gate();
    var result = new CompletableFuture<Integer>();
    Generator<Integer> generator = Generator.of(scope.anonymous(), 1, out -> {
      gate.pass();
      out.yield(1);
    });
    var callCount = new AtomicInteger();
    var reader = Thread.ofPlatform().daemon().start(() -> {
      int sum = 0;
      // enough calls to get the code compiled: the JVM of a build has only the C1 compiler, which
      // compiles after 200 calls
      for (int i = 0; i < CALLS; i++, callCount.incrementAndGet())
        sum += Generator.of(ActorSystem.anonymous(), 1, (Output<Integer> out) -> {}).iterator().hasNext() ? 1 : 0;
      result.complete(sum + generator.iterator().next());
    });
    Patience.progress(callCount::get, () -> gate.entered.getCount() == 0);
    Patience.awaitParked(reader);

    for (int i = 0; i < 5; i++) LeakProbe.used();
    gate.open();

    assertEquals(1, Patience.value(result));
  }

  @Test
  void completedIterationKeepsNoElements() {
    var references = new ArrayList<WeakReference<Object>>();
    Generator<Object> generator = Generator.of(scope.anonymous(), 10, out -> {
      for (int i = 0; i < 100; i++) {
        var element = new Object();
        synchronized (references) {
          references.add(new WeakReference<>(element));
        }
        out.yield(element);
      }
    });
    var iterator = generator.iterator();
    while (iterator.hasNext()) iterator.next();

    assertTrue(LeakProbe.collected(references));
    assertFalse(iterator.hasNext());
  }
}
