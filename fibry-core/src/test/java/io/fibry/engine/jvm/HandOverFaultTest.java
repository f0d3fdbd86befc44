package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Patience;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests which thread runs a drain that is in a slot, and that the drain runs once. */
@Tag("jdk-scheduler")
class HandOverFaultTest {
  // several attempts, because another fiber may use the same slot and prevent the hand-over
  private static final int ATTEMPTS = 1_000;

  private static final class Drain implements WokenDrain {
    private final Runnable code;
    private final AtomicBoolean claimed = new AtomicBoolean();
    private final AtomicInteger leaveCalls = new AtomicInteger();
    private final AtomicInteger penalties = new AtomicInteger();
    private final CompletableFuture<Thread> runner = new CompletableFuture<>();

    Drain(Runnable code) {
      this.code = code;
    }

    @Override
    public boolean runOnce() {
      if (!claimed.compareAndSet(false, true)) return false;
      code.run();
      runner.complete(Thread.currentThread()); // last, because after this the tests check the effects of the code
      return true;
    }

    @Override
    public void run() {
      if (runOnce()) HandOver.runWoken(this);
    }

    @Override
    public void forgetHandler() {}

    @Override
    public void leaveThread() {
      leaveCalls.incrementAndGet();
    }

    @Override
    public void penalizeWaker() {
      penalties.incrementAndGet();
    }
  }

  private static void start(Drain drain) {
    Thread.startVirtualThread(drain);
  }

  @Test
  void wokenDrainRunsAlthoughItsWakerFails() {
    var wokenDrain = new Drain(() -> {});
    Thread.ofVirtual().uncaughtExceptionHandler((thread, planned) -> {}).start(new Drain(() -> {
      HandOver.offer(wokenDrain);
      throw new StackOverflowError("planned");
    }));

    Patience.value(wokenDrain.runner);
    assertTrue(wokenDrain.penalties.get() <= 1); // 0 if another fiber took the drain from the slot and ran it
  }

  @Test
  void firstDrainStartsOnOtherThreadWhenSecondIsHandedOver() {
    var firstDrain = new Drain(() -> {});
    var secondDrain = new Drain(() -> {});
    var waker = new Drain(() -> {
      HandOver.offer(firstDrain);
      HandOver.offer(secondDrain);
      firstDrain.runner.join();
    });
    start(waker);

    Patience.value(secondDrain.runner);
    assertNotEquals(waker.runner.join(), firstDrain.runner.join());
  }

  @Test
  void handOverCallsLeaveThreadOfWakerOnly() {
    for (int i = 0; i < ATTEMPTS; i++) {
      var wokenDrain = new Drain(() -> {});
      var waker = new Drain(() -> HandOver.offer(wokenDrain));
      start(waker);
      if (Patience.value(wokenDrain.runner) != Patience.value(waker.runner)) continue;

      assertEquals(1, waker.leaveCalls.get());
      assertEquals(0, wokenDrain.leaveCalls.get());
      return;
    }
    throw new AssertionError("never handed over");
  }

  /**
   * If the thread never changed, an endless chain of drains would never release its carrier thread.
   */
  @Test
  void longChainOfDrainsContinuesOnOtherThread() {
    var nextThread = new CompletableFuture<Thread>();
    start(chain(null, nextThread));

    Patience.value(nextThread);
  }

  /** Returns a drain that hands over to the next drain of the chain, until the thread changes. */
  private static Drain chain(Thread firstThread, CompletableFuture<Thread> nextThread) {
    return new Drain(() -> {
      var thread = Thread.currentThread();
      if (firstThread != null && firstThread != thread) nextThread.complete(thread);
      else HandOver.offer(chain(thread, nextThread));
    });
  }

  @Test
  void drainStartedFromSlotRunsOnOtherThread() {
    var wokenDrain = new Drain(() -> {});
    var waker = new Drain(() -> {
      HandOver.offer(wokenDrain);
      HandOver.startHandedOver();
      wokenDrain.runner.join();
    });
    start(waker);

    assertNotEquals(Patience.value(waker.runner), Patience.value(wokenDrain.runner));
  }

  @Test
  void slotReturnsEachDrainOnce() {
    var slots = new HandOverSlots(1);
    var firstDrain = new Drain(() -> {});
    var secondDrain = new Drain(() -> {});

    assertEquals(null, slots.take());
    assertEquals(null, slots.put(firstDrain));
    assertSame(firstDrain, slots.put(secondDrain));
    assertSame(secondDrain, slots.peek(0));
    assertTrue(slots.take(0, secondDrain));
    assertEquals(null, slots.take());
    assertEquals(2, slots.useCount());
  }
}
