package io.fibry.carriers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ExitReason;
import io.fibry.support.Patience;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The threads of handlers, which other handlers use before and after. */
class RunnerTest {
  private final ActorScope scope = ActorSystem.openScope("runners");

  @AfterEach
  void close() {
    scope.close();
  }

  @Test
  void activationsReuseRunnerThreads() {
    Set<Thread> threads = ConcurrentHashMap.newKeySet();
    for (int i = 0; i < 1_000; i++)
      threads.add(scope.anonymous().newActorWithReturn((Integer n) -> Thread.currentThread()).ask(i));

    assertTrue(threads.size() < 500, () -> threads.size() + " threads for 1,000 activations");
  }

  @Test
  void runnerResetsThreadNameLoaderAndInterruptForNextActor() throws Exception {
    try (var loader = new URLClassLoader(new URL[0])) {
      Set<Thread> dirty = ConcurrentHashMap.newKeySet();
      var reused = new AtomicInteger();
      for (int i = 0; i < 200; i++) {
        scope.named("dirty-" + i).newActorWithReturn((Integer n) -> {
          dirty.add(Thread.currentThread());
          Thread.currentThread().setContextClassLoader(loader);
          Thread.currentThread().interrupt();
          return n;
        }).ask(i);
        var clean = scope.anonymous().newActorWithReturn((Integer n) -> {
          var thread = Thread.currentThread();
          if (dirty.contains(thread)) reused.incrementAndGet();
          return thread.getName().isEmpty() && !thread.isInterrupted()
              && thread.getContextClassLoader() == ClassLoader.getSystemClassLoader();
        });
        assertTrue(clean.ask(i));
      }
      assertTrue(reused.get() > 0, "no thread was used again");
    }
  }

  @Test
  void runnerThreadHasNameOfActorThatItRuns() {
    for (int i = 0; i < 50; i++) {
      String name = "actor-" + i;
      assertEquals(name, scope.named(name).newActorWithReturn((Integer n) -> Thread.currentThread().getName()).ask(i));
    }
  }

  /** Kills actors in all phases of their work, while other actors use the same runners. */
  @Test
  void killInterruptsNoHandlerOfOtherActor() {
    var wrongInterrupts = new AtomicInteger();
    var handled = new AtomicInteger();
    var innocent = scope.anonymous().newActor((Integer n) -> {
      LockSupport.parkNanos(20_000);
      if (Thread.interrupted()) wrongInterrupts.incrementAndGet();
      handled.incrementAndGet();
    });
    int rounds = 500;
    for (int i = 0; i < rounds; i++) {
      var victim = scope.anonymous().newActor((Integer n) -> {
        if (n % 2 == 0) LockSupport.parkNanos(10_000L);
      });
      victim.sendMessage(i);
      innocent.sendMessage(i);
      victim.kill();
    }

    Patience.progress(handled::get, () -> handled.get() == rounds);
    assertEquals(0, wrongInterrupts.get());
  }

  @Test
  void killInterruptsBlockedHandlerAndEndsItsActor() {
    var blocked = new CountDownLatch(1);
    var interrupted = new CompletableFuture<Boolean>();
    var actor = scope.anonymous().newActor((Integer n) -> {
      blocked.countDown();
      try {
        new CountDownLatch(1).await();
      } catch (InterruptedException expected) {
        interrupted.complete(true);
        throw expected;
      }
    });
    actor.sendMessage(1);
    Patience.await(blocked);
    actor.kill();

    assertTrue(Patience.value(interrupted));
    Patience.awaitEnd(actor::waitForExit);
    assertInstanceOf(ExitReason.Killed.class, Patience.value(actor.onExit()));
  }

  /** A stray unpark of a thread that waits among the spare runners must harm no later actor. */
  @Test
  void requestsAreAnsweredDespiteStrayUnparksOfRunners() {
    Set<Thread> runners = ConcurrentHashMap.newKeySet();
    var stop = new CountDownLatch(1);
    var noise = Thread.ofPlatform().daemon().start(() -> {
      while (stop.getCount() > 0) {
        runners.forEach(LockSupport::unpark);
        runners.forEach(Thread::getStackTrace); // suspends the thread for a moment
      }
    });
    for (int i = 0; i < 1_000; i++) {
      var actor = scope.anonymous().newActorWithReturn((Integer n) -> {
        if (runners.size() < 20) runners.add(Thread.currentThread());
        return n + 1;
      });
      assertEquals(i + 1, actor.ask(i, Patience.LONG));
    }
    stop.countDown();
    Patience.awaitEnd(noise);

    assertFalse(runners.isEmpty());
  }
}
