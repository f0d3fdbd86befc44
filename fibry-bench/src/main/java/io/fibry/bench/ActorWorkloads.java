package io.fibry.bench;

import io.fibry.ActorSystem;
import io.fibry.Handler;
import io.fibry.Sink;
import io.fibry.stereotype.Stereotypes;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * Workloads of actors, and the same workloads without Fibry, as references: with threads, queues
 * and locks of the JDK, or with Pekko.
 */
final class ActorWorkloads {
  private static final Integer MESSAGE = 1_000;

  private ActorWorkloads() {}

  /**
   * Runs a job of {@code times} operations on a virtual thread. Returns the nanoseconds per
   * operation.
   */
  static double onVirtualThread(int times, Handler.Task job) throws Exception {
    var elapsed = new CompletableFuture<Long>();
    Thread.startVirtualThread(() -> {
      try {
        long start = System.nanoTime();
        job.run();
        elapsed.complete(System.nanoTime() - start);
      } catch (Throwable failure) {
        elapsed.completeExceptionally(failure);
      }
    });
    return (double) elapsed.get() / times;
  }

  // ---- creating

  static double createSinks(int times) throws Exception {
    var sinks = new Sink<?>[times];
    long start = System.nanoTime();
    for (int i = 0; i < times; i++) sinks[i] = Stereotypes.fibers().sink(null);
    double nanosEach = (double) (System.nanoTime() - start) / times;
    // waits until each sink has handled a message, which proves that it is an actor
    var handled = new CountDownLatch(times);
    for (var sink : sinks) sink.execAsync(state -> handled.countDown());
    handled.await();
    return nanosEach;
  }

  static double createParkedThreads(int times) throws Exception {
    var threads = new Thread[times];
    var allEnded = new CountDownLatch(times);
    long start = System.nanoTime();
    for (int i = 0; i < times; i++) {
      threads[i] = Thread.startVirtualThread(() -> {
        LockSupport.park();
        allEnded.countDown();
      });
    }
    double nanosEach = (double) (System.nanoTime() - start) / times;
    for (var thread : threads) LockSupport.unpark(thread);
    allEnded.await();
    return nanosEach;
  }

  // ---- messages; the time ends when the last message is handled

  static double messages(int times) throws Exception {
    var allHandled = new CountDownLatch(1);
    var count = new int[1];
    var actor = ActorSystem.anonymous().newActor((Integer message) -> {
      if (++count[0] == times) allHandled.countDown();
    });
    return onVirtualThread(times, () -> {
      for (int i = 0; i < times; i++) actor.sendMessage(MESSAGE);
      allHandled.await();
    });
  }

  static double messagesThroughQueue(int times) throws Exception {
    var allHandled = new CountDownLatch(1);
    var queue = new LinkedTransferQueue<Integer>();
    Thread.startVirtualThread(() -> {
      try {
        for (int count = 0; count < times; count++) queue.take();
        allHandled.countDown();
      } catch (InterruptedException interruption) {
        throw new AssertionError(interruption);
      }
    });
    return onVirtualThread(times, () -> {
      for (int i = 0; i < times; i++) queue.put(MESSAGE);
      allHandled.await();
    });
  }

  static double messagesInPekko(int times) throws Exception {
    var allHandled = new CountDownLatch(1);
    var count = new int[1];
    var system = org.apache.pekko.actor.typed.ActorSystem.create(Behaviors.<Integer>receive((context, message) -> {
      if (++count[0] == times) allHandled.countDown();
      return Behaviors.same();
    }), "messages");
    try {
      return onVirtualThread(times, () -> {
        for (int i = 0; i < times; i++) system.tell(MESSAGE);
        allHandled.await();
      });
    } finally {
      endPekko(system);
    }
  }

  // ---- requests

  static double requests(int times) throws Exception {
    var squares = ActorSystem.anonymous().newActorWithReturn((Integer n) -> n * n);
    return onVirtualThread(times, () -> {
      for (int i = 0; i < times; i++) squares.sendMessageReturn(i).get();
    });
  }

  static double asks(int times) throws Exception {
    var squares = ActorSystem.anonymous().newActorWithReturn((Integer n) -> n * n);
    return onVirtualThread(times, () -> {
      for (int i = 0; i < times; i++) squares.ask(i);
    });
  }

  static double threadAndFuture(int times) throws Exception {
    return onVirtualThread(times, () -> {
      for (int i = 0; i < times; i++) {
        int n = i;
        var answer = new CompletableFuture<Integer>();
        Thread.startVirtualThread(() -> answer.complete(n * n));
        answer.join();
      }
    });
  }

  private record Square(int n, ActorRef<Integer> replyTo) {}

  static double asksInPekko(int times) throws Exception {
    var system = org.apache.pekko.actor.typed.ActorSystem.create(Behaviors.<Square>receive((context, message) -> {
      message.replyTo.tell(message.n * message.n);
      return Behaviors.same();
    }), "asks");
    try {
      var limit = Duration.ofSeconds(30);
      return onVirtualThread(times, () -> {
        for (int i = 0; i < times; i++) {
          int n = i;
          AskPattern.ask(system, (ActorRef<Integer> replyTo) -> new Square(n, replyTo), limit, system.scheduler())
              .toCompletableFuture().get();
        }
      });
    } finally {
      endPekko(system);
    }
  }

  static double inlineAsks(int times) throws Exception {
    var counter = ActorSystem.anonymous().inlineRequests().initialState(() -> new int[1])
        .newActorWithReturn((int[] count, Integer increment) -> count[0] += increment);
    return onVirtualThread(times, () -> {
      for (int i = 0; i < times; i++) counter.ask(1);
    });
  }

  static double lockedCounter(int times) throws Exception {
    var lock = new ReentrantLock();
    var count = new int[1];
    return onVirtualThread(times, () -> {
      for (int i = 0; i < times; i++) {
        lock.lock();
        try {
          count[0]++;
        } finally {
          lock.unlock();
        }
      }
    });
  }

  private static void endPekko(org.apache.pekko.actor.typed.ActorSystem<?> system) throws Exception {
    system.terminate();
    system.getWhenTerminated().toCompletableFuture().get();
  }
}
