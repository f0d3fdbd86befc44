package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.Done;
import io.fibry.Strategy;
import io.fibry.engine.cell.ActorInternals;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Child;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that a fiber continues with the actor that its handler has woken. */
@Tag("jdk-scheduler")
class HandOverTest {
  private static final int TRIES = 1_000; // on a busy machine the monitor may start the woken actor on another thread

  private final ActorScope scope = ActorSystem.openScope("hand-over");
  private final ThreadLocal<String> threadLocal = new ThreadLocal<>();

  @AfterEach
  void close() {
    scope.close();
  }

  /**
   * Runs the code in a handler that then wakes another actor, whose handler calls the supplier.
   * Tries until both handlers run on one thread, and returns the value of the supplier.
   */
  private <T> T valueInNextHandler(Runnable firstHandlerCode, Supplier<T> supplier) {
    for (int i = 0; i < TRIES; i++) {
      var firstThread = new CompletableFuture<Thread>();
      var secondThread = new CompletableFuture<Thread>();
      var value = new AtomicReference<T>();
      var wokenActor = scope.anonymous().newActor((String message) -> {
        value.set(supplier.get());
        secondThread.complete(Thread.currentThread());
      });
      scope.named("waker" + i).newActor((String message) -> {
        firstThread.complete(Thread.currentThread());
        firstHandlerCode.run();
        wokenActor.sendMessage("wake");
      }).sendMessage("go");
      if (Patience.value(firstThread) == Patience.value(secondThread)) return value.get();
    }
    throw new AssertionError("no hand-over in " + TRIES + " tries");
  }

  @Promise("6.12")
  @Test
  void fiberContinuesWithActorThatItWoke() {
    assertEquals("value", valueInNextHandler(() -> {}, () -> "value"));
  }

  @Promise("6.13")
  @Test
  void threadNameClassLoaderAndInterruptDoNotReachNextActor() {
    var loader = new ClassLoader() {};
    var threadState = valueInNextHandler(() -> {
      Thread.currentThread().setName("mine");
      Thread.currentThread().setContextClassLoader(loader);
      Thread.currentThread().interrupt();
    }, () -> List.of(Thread.currentThread().getName(), Thread.currentThread().getContextClassLoader(),
        Thread.currentThread().isInterrupted()));

    assertEquals(List.of("", ClassLoader.getSystemClassLoader(), false), threadState);
  }

  @Promise("6.13")
  @Test
  void threadLocalValueIsVisibleToNextActorOnSameFiber() {
    assertEquals("set", valueInNextHandler(() -> threadLocal.set("set"), threadLocal::get));
  }

  @Promise("6.13")
  @Test
  void residentFiberSeesOnlyItsOwnThreadLocals() {
    var localValue = new CompletableFuture<String>();
    var wokenActor =
        scope.anonymous().strategy(Strategy.RESIDENT_FIBER)
            .newActor((String m) -> localValue.complete("" + threadLocal.get()));
    scope.anonymous().newActor((String message) -> {
      threadLocal.set("set");
      wokenActor.sendMessage("wake");
    }).sendMessage("go");

    assertEquals("null", Patience.value(localValue));
  }

  enum WakerWork {
    BLOCKS, COMPUTES, HOLDS_A_MONITOR, WAITS_FOR_ITS_FUTURE;

    boolean holdsCarrier() {
      return this == COMPUTES || this == HOLDS_A_MONITOR && Runtime.version().feature() < 24;
    }

    void waitFor(CountDownLatch actorBegun) throws InterruptedException {
      switch (this) {
        case BLOCKS -> Patience.await(actorBegun);
        case COMPUTES -> {
          while (actorBegun.getCount() > 0) Thread.onSpinWait();
        }
        case HOLDS_A_MONITOR -> {
          synchronized (this) {
            Patience.await(actorBegun);
          }
        }
        case WAITS_FOR_ITS_FUTURE -> Patience.value(CompletableFuture.runAsync(() -> Patience.await(actorBegun)));
      }
    }
  }

  @Promise("6.12")
  @ParameterizedTest
  @EnumSource
  void wokenActorStartsWhileWakerStillRuns(WakerWork work) {
    assumeTrue(Runtime.getRuntime().availableProcessors() > 1 || !work.holdsCarrier(), "no other carrier is free");
    var actorBegun = new CountDownLatch(1);
    var wakerReturned = new CountDownLatch(1);
    var wokenActor = scope.anonymous().newActor((String message) -> actorBegun.countDown());

    scope.anonymous().newActor((String message) -> {
      wokenActor.sendMessage("wake");
      work.waitFor(actorBegun);
      wakerReturned.countDown();
    }).sendMessage("go");

    Patience.await(wakerReturned);
  }

  /**
   * Asserts that in at least one try the woken actor did not begin late. It begins in time only if
   * the wait of the waker starts it.
   */
  private static void assertNotAlwaysLate(Supplier<Actor<?>> waker) {
    for (int i = 0; i < TRIES; i++) if (ActorInternals.wakeUpsWithoutHandOver(waker.get()) == 0) return;
    throw new AssertionError("the woken actor began late in each try");
  }

  /** @param wait ends when the woken actor has begun */
  private void assertStartedBy(Consumer<ActorWithReturn<Runnable, Done>> wait) {
    assertNotAlwaysLate(() -> {
      var actorBegun = new CountDownLatch(1);
      var wakerReturned = new CountDownLatch(1);
      var wokenActor = scope.anonymous().newActor((String message) -> actorBegun.countDown());
      var slowActor = scope.anonymous().mailbox(Mailbox.<Runnable>bounded(1, Overflow.BLOCK))
          .newActorWithReturn((Runnable code) -> {
            code.run();
            return Done.DONE;
          });
      var waker = scope.anonymous().newActor((String message) -> {
        slowActor.sendMessage(() -> Patience.await(actorBegun));
        wokenActor.sendMessage("wake");
        wait.accept(slowActor);
        wakerReturned.countDown();
      });
      waker.sendMessage("go");
      Patience.await(wakerReturned);
      return waker;
    });
  }

  @Promise("6.12")
  @Test
  void wokenActorStartsWhenWakerAsksAnotherActor() {
    assertStartedBy(slowActor -> slowActor.ask(() -> {}));
  }

  @Promise("6.12")
  @Test
  void wokenActorStartsWhenWakerWaitsInReceive() {
    assertNotAlwaysLate(() -> {
      var received = new CompletableFuture<Boolean>();
      var waker = new AtomicReference<Actor<Object>>();
      var wokenActor = scope.anonymous().newActor((String message) -> waker.get().sendMessage(1));
      waker.set(scope.anonymous().mailbox(Mailbox.unbounded().selective())
          .newActor((Object message, ActorContext<Object> context) -> {
            if (!message.equals("go")) return;
            wokenActor.sendMessage("wake");
            received.complete(context.receive(Integer.class, Patience.LONG).isPresent());
          }));
      waker.get().sendMessage("go");
      assertTrue(Patience.value(received));
      return waker.get();
    });
  }

  @Promise("6.12")
  @Test
  void wokenActorStartsWhenWakerWaitsForCapacity() {
    assertStartedBy(slowActor -> {
      slowActor.sendMessage(() -> {});
      slowActor.sendMessage(() -> {});
    });
  }

  @Promise("6.12")
  @Test
  void wokenActorStartsWhenWakerWaitsForExit() {
    assertStartedBy(slowActor -> {
      slowActor.sendPoisonPill();
      assertTrue(slowActor.waitForExit(Patience.LONG));
    });
  }

  @Promise("6.12")
  @Test
  void wokenActorStartsWhenWakerHandlesNextMessage() {
    var actorBegun = new CountDownLatch(1);
    var wakerReturned = new CountDownLatch(1);
    var wokenActor = scope.anonymous().newActor((String message) -> actorBegun.countDown());
    var waker = scope.anonymous().newActor((Boolean first) -> {
      if (first) wokenActor.sendMessage("wake");
      else {
        Patience.await(actorBegun);
        wakerReturned.countDown();
      }
    });

    waker.sendMessages(List.of(true, false));

    Patience.await(wakerReturned);
  }

  @Promise("19.3")
  @Test
  void dumpNamesWakerOfWokenActor() {
    var dumpedScope = scope.openScope("dumped"); // contains no wakers, so that its dumps stay short
    var wokenActor = dumpedScope.named("other").newActor((String message) -> {});
    for (int i = 0; i < TRIES; i++) {
      var dump = new CompletableFuture<String>();
      var waker = "waker" + i;
      scope.named(waker).newActor((String message) -> {
        wokenActor.sendMessage("wake");
        dump.complete(dumpedScope.dump());
      }).sendMessage("go");
      if (Patience.value(dump).contains("other (FIBER): was woken by '" + waker + "', and has not begun yet"))
        return;
    }
    throw new AssertionError("the woken actor had begun before each dump");
  }

  @Test
  void wakerThatBlockedEarlierWakesActorWithoutHandOver() {
    var wokenActor = scope.anonymous().newActor((CountDownLatch actorBegun) -> actorBegun.countDown());
    var lateCount = new CompletableFuture<Integer>();
    var self = new AtomicReference<Actor<String>>();
    self.set(scope.anonymous().newActor((String message) -> {
      var actorBegun = new CountDownLatch(1);
      wokenActor.sendMessage(actorBegun);
      Patience.await(actorBegun);
      if (ActorInternals.wakeUpsWithoutHandOver(self.get()) > 0)
        lateCount.complete(ActorInternals.wakeUpsWithoutHandOver(self.get()));
      else self.get().sendMessage("again");
    }));

    self.get().sendMessage("go");

    assertTrue(Patience.value(lateCount) > 0);
  }

  /** Checks that the monitor is parked without a limit, so that it uses no processor time. */
  @Promise("12.4")
  @Test
  void monitorThreadSleepsWhileNoHandOverIsPending() throws Exception {
    try (var jvm = Child.java(List.of(), SleepingMonitor.class)) {
      jvm.awaitExit(0);
    }
  }

  static final class SleepingMonitor {
    private SleepingMonitor() {}

    /** @param args none */
    public static void main(String[] args) {
      var secondHandled = new CountDownLatch(1);
      var secondActor = ActorSystem.anonymous().newActor((Integer number) -> secondHandled.countDown());
      ActorSystem.anonymous().newActor((Integer number) -> secondActor.sendMessage(number)).sendMessage(1);
      Patience.await(secondHandled);
      Patience.eventually(() -> Thread.getAllStackTraces().keySet().stream()
          .anyMatch(thread -> thread.getName().equals("fibry-monitor") && thread.getState() == Thread.State.WAITING));
      System.exit(0);
    }
  }

  @Test
  void killOfWokenActorBeforeItsStartEndsIt() {
    var wokenActor = scope.anonymous().newActor((String message) -> {});
    var wakerReturned = new CompletableFuture<Boolean>();
    scope.anonymous().newActor((String message) -> {
      wokenActor.sendMessage("wake");
      wokenActor.kill();
      wakerReturned.complete(wokenActor.waitForExit(Patience.LONG));
    }).sendMessage("go");

    assertTrue(Patience.value(wakerReturned));
  }
}
