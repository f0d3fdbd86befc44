package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Patience;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The fate of drains in a slot. */
class HandOverFaultTest {
  private static final int TRIES = 1_000; // the slot of a fiber may be used by another

  private static final class Drain implements WokenDrain {
    private final Runnable code;
    private final AtomicBoolean claimed = new AtomicBoolean();
    private final AtomicInteger left = new AtomicInteger();
    private final AtomicInteger blamed = new AtomicInteger();
    private final CompletableFuture<Thread> ran = new CompletableFuture<>();

    Drain(Runnable code) {
      this.code = code;
    }

    @Override
    public boolean runOnce() {
      if (!claimed.compareAndSet(false, true)) return false;
      code.run();
      ran.complete(Thread.currentThread()); // last: tests look at what the code did
      return true;
    }

    @Override
    public void run() {
      HandOver.run(this);
    }

    @Override
    public void leaveThread() {
      left.incrementAndGet();
    }

    @Override
    public void penalizeWaker() {
      blamed.incrementAndGet();
    }
  }

  private static void start(Drain drain) {
    Thread.startVirtualThread(drain);
  }

  @Test
  void drainHandedOverByDyingFiberStillRuns() {
    var woken = new Drain(() -> {});
    Thread.ofVirtual().uncaughtExceptionHandler((thread, planned) -> {}).start(new Drain(() -> {
      HandOver.offer(woken);
      throw new StackOverflowError("planned");
    }));

    Patience.value(woken.ran);
    assertTrue(woken.blamed.get() <= 1); // none, if another fiber has found it
  }

  @Test
  void earlierDrainIsStartedWhenNextIsHandedOver() {
    var first = new Drain(() -> {});
    var second = new Drain(() -> {});
    var waker = new Drain(() -> {
      HandOver.offer(first);
      HandOver.offer(second);
      first.ran.join();
    });
    start(waker);

    Patience.value(second.ran);
    assertNotEquals(waker.ran.join(), first.ran.join());
  }

  @Test
  void wakerLearnsThatItGaveItsThreadAway() {
    for (int i = 0; i < TRIES; i++) {
      var woken = new Drain(() -> {});
      var waker = new Drain(() -> HandOver.offer(woken));
      start(waker);
      if (Patience.value(woken.ran) != Patience.value(waker.ran)) continue;

      assertEquals(1, waker.left.get());
      assertEquals(0, woken.left.get());
      return;
    }
    throw new AssertionError("never handed over");
  }

  @Test
  void drainThatRanElsewhereDoesNotRunAgain() {
    var count = new AtomicInteger();
    var through = new CountDownLatch(1);
    var woken = new Drain(count::incrementAndGet);
    start(new Drain(() -> {
      HandOver.offer(woken);
      woken.runOnce();
      through.countDown();
    }));

    Patience.await(through);
    Patience.value(woken.ran);
    assertEquals(1, count.get());
  }

  /** Or a chain without an end would keep its carrier. */
  @Test
  void aLongChainChangesItsThread() {
    var through = new CompletableFuture<Thread>();
    start(chain(null, through));

    Patience.value(through);
  }

  /** Goes on until another thread does. */
  private static Drain chain(Thread first, CompletableFuture<Thread> through) {
    return new Drain(() -> {
      var now = Thread.currentThread();
      if (first != null && first != now) through.complete(now);
      else HandOver.offer(chain(now, through));
    });
  }

  @Test
  void drainStartedByFiberRunsOnOtherThread() {
    var woken = new Drain(() -> {});
    var waker = new Drain(() -> {
      HandOver.offer(woken);
      HandOver.startHandedOver();
      woken.ran.join();
    });
    start(waker);

    assertNotEquals(Patience.value(waker.ran), Patience.value(woken.ran));
  }

  @Test
  void aSlotGivesEachTaskOnce() {
    var slots = new HandOverSlots(1);
    var first = new Drain(() -> {});
    var second = new Drain(() -> {});

    assertEquals(null, slots.take());
    assertEquals(null, slots.put(first));
    assertSame(first, slots.put(second));
    assertSame(second, slots.peek(0));
    assertTrue(slots.take(0, second));
    assertEquals(null, slots.take());
    assertEquals(2, slots.useCount());
  }
}
