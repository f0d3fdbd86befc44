package io.fibry.carriers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Actors of the library, which run on the carriers of this module. */
class CarriersTest {
  private final ActorScope scope = ActorSystem.openScope("carriers");

  @AfterEach
  void close() {
    scope.close();
  }

  private static boolean isOnOwnCarrier() {
    return JvmAccess.currentCarrier() instanceof Carrier;
  }

  @Test
  void handlerRunsOnCarrierOfFibry() {
    var actor = scope.anonymous()
        .newActorWithReturn((Integer n) -> isOnOwnCarrier() && Thread.currentThread().isVirtual());

    assertTrue(actor.ask(1));
  }

  @Test
  void residentFiberKeepsItsThreadAndRunsOnCarrierOfFibry() {
    var fiber = scope.anonymous().newActorWithReturn((Integer n) -> Thread.currentThread());
    var resident = scope.anonymous().strategy(Strategy.RESIDENT_FIBER)
        .newActorWithReturn((Integer n) -> isOnOwnCarrier() ? Thread.currentThread() : null);

    var thread = resident.ask(1);
    for (int i = 0; i < 100; i++) {
      assertEquals(thread, resident.ask(i));
      assertNotSame(thread, fiber.ask(i));
    }
  }

  @Test
  void virtualThreadStartedByHandlerRunsOnCarrierOfFibry() {
    var result = new CompletableFuture<Boolean>();
    scope.anonymous().newActor((Integer n) -> {
      Thread.startVirtualThread(() -> result.complete(isOnOwnCarrier()));
    }).sendMessage(1);

    assertTrue(Patience.value(result));
  }

  @Test
  void actorAnswersWhileManyHandlersAreBlocked() {
    int count = 500; // far more than carriers and spare runners
    var release = new CountDownLatch(1);
    var blocked = new CountDownLatch(count);
    var done = new CountDownLatch(count);
    for (int i = 0; i < count; i++) scope.anonymous().newActor((Integer n) -> {
      blocked.countDown();
      release.await();
      done.countDown();
    }).sendMessage(1);
    Patience.await(blocked);

    assertEquals(4, scope.anonymous().newActorWithReturn((Integer n) -> n + 1).ask(3));
    release.countDown();
    Patience.await(done);
  }

  @Test
  void sleepingHandlersContinueWhenTheirSleepEnds() {
    int count = 2_000;
    var done = new CountDownLatch(count);
    for (int i = 0; i < count; i++) {
      int nanos = 100_000 * (i % 50);
      scope.anonymous().newActor((Integer n) -> {
        LockSupport.parkNanos(nanos);
        done.countDown();
      }).sendMessage(1);
    }

    Patience.await(done);
  }

  @Test
  void fiberActorsExchangeItemsThroughJdkQueues() {
    var there = new LinkedTransferQueue<Integer>();
    var back = new LinkedTransferQueue<Integer>();
    var done = new CompletableFuture<Integer>();
    scope.anonymous().newActor((Integer n) -> {
      for (int i = 0; i < n; i++) back.put(there.take() + 1);
    }).sendMessage(10_000);
    scope.anonymous().newActor((Integer n) -> {
      int sum = 0;
      for (int i = 0; i < n; i++) {
        there.put(i);
        sum += back.take() - i;
      }
      done.complete(sum);
    }).sendMessage(10_000);

    assertEquals(10_000, Patience.value(done));
  }

  @Test
  void messagesOfEachSenderStayInOrder() {
    int senders = 8;
    int count = 5_000;
    var last = new int[senders];
    var errors = new AtomicInteger();
    var done = new CountDownLatch(senders * count);
    var receiver = scope.anonymous().newActor((Integer message) -> {
      int sender = message / count;
      if (message % count != last[sender]++) errors.incrementAndGet();
      done.countDown();
    });
    for (int sender = 0; sender < senders; sender++) {
      int first = sender * count;
      if (sender % 2 == 0) scope.anonymous().newActor((Integer n) -> {
        for (int i = 0; i < n; i++) receiver.sendMessage(first + i);
      }).sendMessage(count);
      else Thread.ofPlatform().daemon().start(() -> {
        for (int i = 0; i < count; i++) receiver.sendMessage(first + i);
      });
    }

    Patience.await(done);
    assertEquals(0, errors.get());
  }

  /** Continuations that are always ready must not keep a sender's message from being handled. */
  @Test
  void yieldingHandlersDoNotStarveMessagesOfOtherThreads() {
    var stop = new CountDownLatch(1);
    var running = new ArrayList<Thread>();
    var started = new CountDownLatch(8);
    for (int i = 0; i < 8; i++) scope.anonymous().newActor((Integer n) -> {
      synchronized (running) {
        running.add(Thread.currentThread());
      }
      started.countDown();
      while (stop.getCount() > 0) Thread.yield();
    }).sendMessage(1);
    Patience.await(started);
    var actor = scope.anonymous().newActorWithReturn((Integer n) -> n * n);

    for (int i = 0; i < 20; i++) assertEquals(i * i, actor.ask(i));
    stop.countDown();
    assertEquals(8, List.copyOf(running).stream().distinct().count());
  }

  /** The drain waits on the carrier of its sender, which runs nothing else, until it is late. */
  @Test
  void drainOfQuickActorRunsElsewhereWhenItsSenderComputes() {
    var handled = new AtomicInteger();
    var quickActor = scope.anonymous().mailbox(Mailbox.bounded(64, Overflow.BLOCK))
        .newActor((Integer n) -> handled.incrementAndGet());
    var end = new CompletableFuture<Void>();
    scope.anonymous().newActor((Integer count) -> {
      for (int i = 0; i < count; i++) quickActor.sendMessage(i);
      while (handled.get() < count) Thread.yield();
      quickActor.sendMessage(count);
      while (handled.get() <= count) Thread.onSpinWait();
      end.complete(null);
    }).sendMessage(10_000);

    Patience.value(end);
  }
}
