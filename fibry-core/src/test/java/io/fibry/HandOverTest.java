package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.engine.cell.Inside;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Child;
import io.fibry.support.Patience;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A fiber runs the actor that its handler has woken next. */
class HandOverTest {
  private static final int TRIES = 1_000; // a busy machine may make the monitor start it elsewhere

  private final ActorScope scope = ActorSystem.openScope("hand-over");
  private final ThreadLocal<String> local = new ThreadLocal<>();

  @AfterEach
  void close() {
    scope.close();
  }

  /** Returns the value that the second handler sees, on the thread of the first one. */
  private <T> T seenNext(Runnable before, Supplier<T> seen) {
    for (int i = 0; i < TRIES; i++) {
      var first = new CompletableFuture<Thread>();
      var second = new CompletableFuture<Thread>();
      var found = new AtomicReference<T>();
      var other = scope.anonymous().newActor((String message) -> {
        found.set(seen.get());
        second.complete(Thread.currentThread());
      });
      scope.named("waker" + i).newActor((String message) -> {
        first.complete(Thread.currentThread());
        before.run();
        other.sendMessage("wake");
      }).sendMessage("go");
      if (Patience.value(first) == Patience.value(second)) return found.get();
    }
    throw new AssertionError("no hand-over in " + TRIES + " tries");
  }

  @Promise("6.12")
  @Test
  void fiberContinuesWithActorThatItWoke() {
    assertEquals("seen", seenNext(() -> {}, () -> "seen"));
  }

  @Promise("6.13")
  @Test
  void threadNameLoaderAndInterruptDoNotReachNextActor() {
    var loader = new ClassLoader() {};
    var seen = seenNext(() -> {
      Thread.currentThread().setName("mine");
      Thread.currentThread().setContextClassLoader(loader);
      Thread.currentThread().interrupt();
    }, () -> List.of(Thread.currentThread().getName(), Thread.currentThread().getContextClassLoader(),
        Thread.currentThread().isInterrupted()));

    assertEquals(List.of("", ClassLoader.getSystemClassLoader(), false), seen);
  }

  @Promise("6.13")
  @Test
  void threadLocalValueIsVisibleToNextActor() {
    assertEquals("left", seenNext(() -> local.set("left"), local::get));
  }

  @Promise("6.13")
  @Test
  void aResidentFiberSeesItsOwnThreadLocalsOnly() {
    var seen = new CompletableFuture<String>();
    var other =
        scope.anonymous().strategy(Strategy.RESIDENT_FIBER).newActor((String m) -> seen.complete("" + local.get()));
    scope.anonymous().newActor((String message) -> {
      local.set("left");
      other.sendMessage("wake");
    }).sendMessage("go");

    assertEquals("null", Patience.value(seen));
  }

  enum Way {
    BLOCKS, COMPUTES, HOLDS_A_MONITOR, WAITS_FOR_ITS_FUTURE;

    void waitFor(CountDownLatch begun) throws InterruptedException {
      switch (this) {
        case BLOCKS -> Patience.await(begun);
        case COMPUTES -> {
          while (begun.getCount() > 0) Thread.onSpinWait();
        }
        case HOLDS_A_MONITOR -> {
          synchronized (this) {
            Patience.await(begun);
          }
        }
        case WAITS_FOR_ITS_FUTURE -> Patience.value(CompletableFuture.runAsync(() -> Patience.await(begun)));
      }
    }
  }

  @Promise("6.12")
  @ParameterizedTest
  @EnumSource
  void wokenActorStartsWhileWakerStillRuns(Way way) {
    var begun = new CountDownLatch(1);
    var returned = new CountDownLatch(1);
    var other = scope.anonymous().newActor((String message) -> begun.countDown());

    scope.anonymous().newActor((String message) -> {
      other.sendMessage("wake");
      way.waitFor(begun);
      returned.countDown();
    }).sendMessage("go");

    Patience.await(returned);
  }

  /** The waker would be blamed each time, were it not for its wait, which starts the other. */
  private static void isNotAlwaysLate(Supplier<Actor<?>> waker) {
    for (int i = 0; i < TRIES; i++) if (Inside.late(waker.get()) == 0) return;
    throw new AssertionError("it was late each time");
  }

  /** @param wait ends when the other has begun */
  private void isStartedBy(Consumer<ActorWithReturn<Runnable, Done>> wait) {
    isNotAlwaysLate(() -> {
      var begun = new CountDownLatch(1);
      var returned = new CountDownLatch(1);
      var other = scope.anonymous().newActor((String message) -> begun.countDown());
      var slow = scope.anonymous().mailbox(Mailbox.<Runnable>bounded(1, Overflow.BLOCK))
          .newActorWithReturn((Runnable code) -> {
            code.run();
            return Done.DONE;
          });
      var waker = scope.anonymous().newActor((String message) -> {
        slow.sendMessage(() -> Patience.await(begun));
        other.sendMessage("wake");
        wait.accept(slow);
        returned.countDown();
      });
      waker.sendMessage("go");
      Patience.await(returned);
      return waker;
    });
  }

  @Promise("6.12")
  @Test
  void askStartsWokenActor() {
    isStartedBy(slow -> slow.ask(() -> {}));
  }

  @Promise("6.12")
  @Test
  void receiveStartsWokenActor() {
    isNotAlwaysLate(() -> {
      var received = new CompletableFuture<Boolean>();
      var waker = new AtomicReference<Actor<Object>>();
      var other = scope.anonymous().newActor((String message) -> waker.get().sendMessage(1));
      waker.set(scope.anonymous().mailbox(Mailbox.unbounded().selective())
          .newActor((Object message, ActorContext<Object> context) -> {
            if (!message.equals("go")) return;
            other.sendMessage("wake");
            received.complete(context.receive(Integer.class, Patience.LONG).isPresent());
          }));
      waker.get().sendMessage("go");
      assertTrue(Patience.value(received));
      return waker.get();
    });
  }

  @Promise("6.12")
  @Test
  void waitForRoomStartsWokenActor() {
    isStartedBy(slow -> {
      slow.sendMessage(() -> {});
      slow.sendMessage(() -> {});
    });
  }

  @Promise("6.12")
  @Test
  void waitForExitStartsWokenActor() {
    isStartedBy(slow -> {
      slow.sendPoisonPill();
      assertTrue(slow.waitForExit(Patience.LONG));
    });
  }

  @Promise("6.12")
  @Test
  void nextMessageOfWakerStartsWokenActor() {
    var begun = new CountDownLatch(1);
    var returned = new CountDownLatch(1);
    var other = scope.anonymous().newActor((String message) -> begun.countDown());
    var waker = scope.anonymous().newActor((Boolean first) -> {
      if (first) other.sendMessage("wake");
      else {
        Patience.await(begun);
        returned.countDown();
      }
    });

    waker.sendMessages(List.of(true, false));

    Patience.await(returned);
  }

  @Promise("19.3")
  @Test
  void aDumpNamesTheWaker() {
    var dumped = scope.openScope("dumped"); // without the wakers: else each dump would take longer
    var other = dumped.named("other").newActor((String message) -> {});
    for (int i = 0; i < TRIES; i++) {
      var dump = new CompletableFuture<String>();
      var waker = "waker" + i;
      scope.named(waker).newActor((String message) -> {
        other.sendMessage("wake");
        dump.complete(dumped.dump());
      }).sendMessage("go");
      if (Patience.value(dump).contains("other (FIBER): was woken by '" + waker + "', and has not begun yet"))
        return;
    }
    throw new AssertionError("it had begun each time");
  }

  @Test
  void lateHandlerStartsNewFibersForAWhile() {
    var other = scope.anonymous().newActor((CountDownLatch begun) -> begun.countDown());
    var late = new CompletableFuture<Integer>();
    var self = new AtomicReference<Actor<String>>();
    self.set(scope.anonymous().newActor((String message) -> {
      var begun = new CountDownLatch(1);
      other.sendMessage(begun);
      Patience.await(begun);
      if (Inside.late(self.get()) > 0) late.complete(Inside.late(self.get()));
      else self.get().sendMessage("again");
    }));

    self.get().sendMessage("go");

    assertTrue(Patience.value(late) > 0);
  }

  /** Its processor time does not grow while it is parked without a limit. */
  @Promise("12.4")
  @Test
  void monitorSleepsWhileNoHandOverIsPending() throws Exception {
    try (var jvm = Child.java(List.of(), Sleeps.class)) {
      jvm.ended(0);
    }
  }

  static final class Sleeps {
    private Sleeps() {}

    /** @param args none */
    public static void main(String[] args) {
      var done = new CountDownLatch(1);
      var second = ActorSystem.anonymous().newActor((Integer left) -> done.countDown());
      ActorSystem.anonymous().newActor((Integer left) -> second.sendMessage(left)).sendMessage(1);
      Patience.await(done);
      Patience.eventually(() -> Thread.getAllStackTraces().keySet().stream()
          .anyMatch(one -> one.getName().equals("fibry-monitor") && one.getState() == Thread.State.WAITING));
      System.exit(0);
    }
  }

  @Test
  void killEndsWokenActorBeforeItsStart() {
    var other = scope.anonymous().newActor((String message) -> {});
    var returned = new CompletableFuture<Boolean>();
    scope.anonymous().newActor((String message) -> {
      other.sendMessage("wake");
      other.kill();
      returned.complete(other.waitForExit(Patience.LONG));
    }).sendMessage("go");

    assertTrue(Patience.value(returned));
  }
}
