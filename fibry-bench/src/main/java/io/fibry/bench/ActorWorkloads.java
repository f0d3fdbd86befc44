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

/** One actor, and the references: each the plainest program that does the job. */
final class ActorWorkloads {
  private static final Integer MESSAGE = 1_000;

  private ActorWorkloads() {}

  /** Runs the job on a virtual thread; returns the nanoseconds of one of {@code times}. */
  static double onVirtualThread(int times, Handler.Task job) throws Exception {
    var took = new CompletableFuture<Long>();
    Thread.startVirtualThread(() -> {
      try {
        long start = System.nanoTime();
        job.run();
        took.complete(System.nanoTime() - start);
      } catch (Throwable failure) {
        took.completeExceptionally(failure);
      }
    });
    return (double) took.get() / times;
  }

  // ---- creating

  static double createSinks(int times) throws Exception {
    var made = new Sink<?>[times];
    long start = System.nanoTime();
    for (int i = 0; i < times; i++) made[i] = Stereotypes.fibers().sink(null);
    double each = (double) (System.nanoTime() - start) / times;
    // fails if one of them is no actor of its own
    var all = new CountDownLatch(times);
    for (var sink : made) sink.execAsync(nothing -> all.countDown());
    all.await();
    return each;
  }

  static double createParkedThreads(int times) throws Exception {
    var made = new Thread[times];
    var end = new CountDownLatch(times);
    long start = System.nanoTime();
    for (int i = 0; i < times; i++) {
      made[i] = Thread.startVirtualThread(() -> {
        LockSupport.park();
        end.countDown();
      });
    }
    double each = (double) (System.nanoTime() - start) / times;
    for (var thread : made) LockSupport.unpark(thread);
    end.await();
    return each;
  }

  // ---- a message counts when it is handled

  static double messages(int times) throws Exception {
    var end = new CountDownLatch(1);
    var seen = new int[1];
    var actor = ActorSystem.anonymous().newActor((Integer message) -> {
      if (++seen[0] == times) end.countDown();
    });
    return onVirtualThread(times, () -> {
      for (int i = 0; i < times; i++) actor.sendMessage(MESSAGE);
      end.await();
    });
  }

  static double messagesThroughQueue(int times) throws Exception {
    var end = new CountDownLatch(1);
    var queue = new LinkedTransferQueue<Integer>();
    Thread.startVirtualThread(() -> {
      try {
        for (int seen = 0; seen < times; seen++) queue.take();
        end.countDown();
      } catch (InterruptedException never) {
        throw new AssertionError(never);
      }
    });
    return onVirtualThread(times, () -> {
      for (int i = 0; i < times; i++) queue.put(MESSAGE);
      end.await();
    });
  }

  static double messagesInPekko(int times) throws Exception {
    var end = new CountDownLatch(1);
    var seen = new int[1];
    var system = org.apache.pekko.actor.typed.ActorSystem.create(Behaviors.<Integer>receive((context, message) -> {
      if (++seen[0] == times) end.countDown();
      return Behaviors.same();
    }), "messages");
    try {
      return onVirtualThread(times, () -> {
        for (int i = 0; i < times; i++) system.tell(MESSAGE);
        end.await();
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
        .newActorWithReturn((int[] count, Integer by) -> count[0] += by);
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
