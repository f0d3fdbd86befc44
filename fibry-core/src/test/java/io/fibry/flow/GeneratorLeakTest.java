package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Gate;
import io.fibry.Handler;
import io.fibry.LeakProbe;
import io.fibry.Promise;
import io.fibry.flow.Generator.Output;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An unreferenced iteration ends its producers, unless a reader waits in it. */
class GeneratorLeakTest {
  private static final int CALLS = Soak.ON ? 20_000 : 4_000;

  private final ActorScope scope = ActorSystem.openScope("generators");

  @AfterEach
  void nothingIsLeft() {
    Gate.openAll();
    Patience.eventually(() -> scope.dump().lines().count() == 1);
    scope.close();
  }

  /** Tells its end. */
  private static Handler<Output<Integer>> endless(CountDownLatch ended) {
    return out -> {
      try {
        for (int i = 0;; i++) out.yield(i);
      } finally {
        ended.countDown();
      }
    };
  }

  @Promise("22.6")
  @Test
  void aForgottenIterationEndsItsProducers() {
    var ended = new CountDownLatch(3);
    var generator = Generator.of(scope.anonymous(), 1, endless(ended));

    for (int i : generator) if (i == 3) break;
    int found = generator.stream().filter(i -> i > 5).findFirst().orElseThrow();
    long limited = generator.stream().limit(3).count();

    assertEquals(List.of(6L, 3L), List.of((long) found, limited));
    assertTrue(LeakProbe.eventually(() -> ended.getCount() == 0));
  }

  @Test
  void aReaderThatWaitsIsNotForgotten() {
    var gate = new Gate();
    var read = new CompletableFuture<Integer>();
    Generator<Integer> generator = Generator.of(scope.anonymous(), 1, out -> {
      gate.pass();
      out.yield(1);
    });
    var made = new AtomicInteger();
    var reader = Thread.ofPlatform().daemon().start(() -> {
      int sum = 0;
      // until it is compiled: a build has the first compiler only, which takes 200 calls
      for (int i = 0; i < CALLS; i++, made.incrementAndGet())
        sum += Generator.of(ActorSystem.anonymous(), 1, (Output<Integer> out) -> {}).iterator().hasNext() ? 1 : 0;
      read.complete(sum + generator.iterator().next());
    });
    Patience.progress(made::get, () -> gate.entered.getCount() == 0);
    Patience.parked(reader);

    for (int i = 0; i < 5; i++) LeakProbe.used();
    gate.open();

    assertEquals(1, Patience.value(read));
  }

  @Test
  void anIterationThatWasReadKeepsNothing() {
    var kept = new ArrayList<WeakReference<Object>>();
    Generator<Object> generator = Generator.of(scope.anonymous(), 10, out -> {
      for (int i = 0; i < 100; i++) {
        var element = new Object();
        synchronized (kept) {
          kept.add(new WeakReference<>(element));
        }
        out.yield(element);
      }
    });
    var reading = generator.iterator();
    while (reading.hasNext()) reading.next();

    assertTrue(LeakProbe.collected(kept));
    assertFalse(reading.hasNext());
  }
}
