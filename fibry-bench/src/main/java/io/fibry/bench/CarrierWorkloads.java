package io.fibry.bench;

import io.fibry.ActorSystem;
import io.fibry.bench.peer.Peer;
import io.fibry.bench.peer.Peers;
import io.fibry.bench.peer.Receiver;
import io.fibry.pool.Pools;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Workloads that use a scheduler of virtual threads in different ways. A workload runs on the
 * thread of its caller, and starts virtual threads on the scheduler of this thread.
 */
final class CarrierWorkloads {
  private static final int IDLE_ACTORS = 1_000;
  private static final int RING = 100; // actors
  private static final int ASKERS = 16;
  private static final int SLEEP_MILLIS = 100;

  private CarrierWorkloads() {}

  private static double nanosEach(long start, int times) {
    return (double) (System.nanoTime() - start) / times;
  }

  // ---- requests

  static double asks(String peerName, int times) {
    try (var peer = Peers.of(peerName, Peer.Requests.class)) {
      var squares = peer.answering((Integer n) -> n * n);
      long start = System.nanoTime();
      squares.askAll(7, times);
      return nanosEach(start, times);
    }
  }

  /** Virtual threads ask at the same time. Each has an actor of its own, or all share one. */
  static double asksOfThreads(String peerName, int actors, int times) throws InterruptedException {
    try (var peer = Peers.of(peerName, Peer.Requests.class)) {
      var squares = Stream.generate(() -> peer.answering((Integer n) -> n * n)).limit(actors).toList();
      int each = times / ASKERS;
      var done = new CountDownLatch(ASKERS);
      long start = System.nanoTime();
      for (int i = 0; i < ASKERS; i++) {
        var asked = squares.get(i % actors);
        Thread.startVirtualThread(() -> {
          asked.askAll(7, each);
          done.countDown();
        });
      }
      done.await();
      return nanosEach(start, ASKERS * each);
    }
  }

  /** An actor asks another one. */
  static double asksOfActor(int times) {
    var squares = ActorSystem.anonymous().newActorWithReturn((Integer n) -> n * n);
    var elapsed = new CompletableFuture<Double>();
    ActorSystem.anonymous().newActor((Integer count) -> {
      long start = System.nanoTime();
      for (int i = 0; i < count; i++) squares.ask(i);
      elapsed.complete(nanosEach(start, count));
    }).sendMessage(times);
    return elapsed.join();
  }

  private record Request(int n, CompletableFuture<Integer> answer) {}

  /** A virtual thread asks another one by a queue, which answers by futures. */
  static double queueAndFuture(int times) {
    var queue = new LinkedTransferQueue<Request>();
    startLoop(times, () -> {
      var request = queue.take();
      request.answer.complete(request.n * request.n);
    });
    long start = System.nanoTime();
    for (int i = 0; i < times; i++) {
      var request = new Request(i, new CompletableFuture<>());
      queue.put(request);
      request.answer.join();
    }
    return nanosEach(start, times);
  }

  // ---- messages

  static double messagesToIdleActors(String peerName, int times) throws InterruptedException {
    return computations(peerName, IDLE_ACTORS, 0, times);
  }

  /**
   * One sender wakes the actors, which all compute. The sender waits until all are done, and then
   * wakes them again.
   */
  static double computations(String peerName, int actors, long tokens, int times) throws InterruptedException {
    try (var peer = Peers.of(peerName)) {
      List<Receiver<CountDownLatch>> receivers = peer.actors(actors, latch -> {
        if (tokens > 0) Blackhole.consumeCPU(tokens);
        latch.countDown();
      });
      int rounds = Math.max(1, times / actors);
      long start = System.nanoTime();
      for (int i = 0; i < rounds; i++) Receiver.awaitEach(receivers);
      double nanosEach = nanosEach(start, rounds * actors);
      receivers.forEach(Receiver::end);
      return nanosEach;
    }
  }

  /**
   * Starts a virtual thread in place of each message to an idle actor. Without a library, a
   * scheduler of virtual threads does at least this.
   */
  static double startedThreads(int times) throws InterruptedException {
    int rounds = Math.max(1, times / IDLE_ACTORS);
    long start = System.nanoTime();
    for (int i = 0; i < rounds; i++) {
      var latch = new CountDownLatch(IDLE_ACTORS);
      Runnable countDown = latch::countDown;
      for (int k = 0; k < IDLE_ACTORS; k++) Thread.startVirtualThread(countDown);
      latch.await();
    }
    return nanosEach(start, rounds * IDLE_ACTORS);
  }

  static double boundedMailbox(String peerName, int capacity, int times) throws InterruptedException {
    try (var peer = Peers.of(peerName, Peer.BoundedMailboxes.class)) {
      var done = new CountDownLatch(times);
      Receiver<CountDownLatch> receiver = peer.bounded(capacity, CountDownLatch::countDown);
      long start = System.nanoTime();
      receiver.sendAll(done, times);
      done.await();
      double nanosEach = nanosEach(start, times);
      receiver.end();
      return nanosEach;
    }
  }

  static double messages(String peerName, int senders, int times) throws InterruptedException {
    try (var peer = Peers.of(peerName)) {
      int each = times / senders;
      var done = new CountDownLatch(each * senders);
      Receiver<CountDownLatch> receiver = peer.actor(CountDownLatch::countDown);
      long start = System.nanoTime();
      for (int i = 0; i < senders; i++) Thread.startVirtualThread(() -> receiver.sendAll(done, each));
      done.await();
      double nanosEach = nanosEach(start, times);
      receiver.end();
      return nanosEach;
    }
  }

  private static final class Token {
    private final CountDownLatch end = new CountDownLatch(1);
    private int remaining; // hops; used only by the actor that has the token

    private Token(int hops) {
      this.remaining = hops;
    }
  }

  /** A token goes round a ring of actors. */
  static double ring(String peerName, int times) throws InterruptedException {
    try (var peer = Peers.of(peerName)) {
      var ring = new ArrayList<Receiver<Token>>();
      for (int i = 0; i < RING; i++) {
        int next = (i + 1) % RING;
        ring.add(peer.actor(token -> {
          if (--token.remaining == 0) token.end.countDown();
          else ring.get(next).send(token);
        }));
      }
      var token = new Token(times);
      long start = System.nanoTime();
      ring.getFirst().send(token);
      token.end.await();
      double nanosEach = nanosEach(start, times);
      ring.forEach(Receiver::end);
      return nanosEach;
    }
  }

  // ---- virtual threads without actors

  /** Two virtual threads send an item to and fro through two queues of the JDK. */
  static double queues(int times) throws InterruptedException {
    BlockingQueue<Integer> there = new LinkedTransferQueue<>();
    BlockingQueue<Integer> back = new LinkedTransferQueue<>();
    startLoop(times, () -> back.put(there.take()));
    long start = System.nanoTime();
    for (int i = 0; i < times; i++) {
      there.put(i);
      back.take();
    }
    return nanosEach(start, times);
  }

  /** Two virtual threads unpark each other: a request without a queue and without an answer. */
  static double unparks(int times) {
    var asker = Thread.currentThread();
    var switches = new AtomicInteger(); // written by the thread whose turn it is
    var partner = Thread.startVirtualThread(() -> {
      for (int i = 1; i <= times; i++) {
        while (switches.get() != 2 * i - 1) LockSupport.park();
        switches.set(2 * i);
        LockSupport.unpark(asker);
      }
    });
    long start = System.nanoTime();
    for (int i = 1; i <= times; i++) {
      switches.set(2 * i - 1);
      LockSupport.unpark(partner);
      while (switches.get() != 2 * i) LockSupport.park();
    }
    return nanosEach(start, times);
  }

  private interface Step {
    void run() throws InterruptedException;
  }

  private static void startLoop(int times, Step step) {
    Thread.startVirtualThread(() -> {
      try {
        for (int i = 0; i < times; i++) step.run();
      } catch (InterruptedException interruption) {
        throw new AssertionError(interruption);
      }
    });
  }

  // ---- handlers that block; the result is in milliseconds for all

  static double sleepingActors(int count) throws InterruptedException {
    var done = new CountDownLatch(count);
    long start = System.nanoTime();
    for (int i = 0; i < count; i++)
      ActorSystem.anonymous().newActor((CountDownLatch latch) -> sleepAndCount(latch)).sendMessage(done);
    done.await();
    return nanosEach(start, 1) / 1e6;
  }

  static double sleepingWorkers(int count) throws InterruptedException {
    var done = new CountDownLatch(count);
    try (var pool =
        Pools.perMessage(ActorSystem.anonymous()).newActor((CountDownLatch latch) -> sleepAndCount(latch))) {
      long start = System.nanoTime();
      for (int i = 0; i < count; i++) pool.sendMessage(done);
      done.await();
      return nanosEach(start, 1) / 1e6;
    }
  }

  static double sleepingThreads(int count) throws InterruptedException {
    var done = new CountDownLatch(count);
    long start = System.nanoTime();
    for (int i = 0; i < count; i++) startLoop(1, () -> sleepAndCount(done));
    done.await();
    return nanosEach(start, 1) / 1e6;
  }

  private static void sleepAndCount(CountDownLatch latch) throws InterruptedException {
    Thread.sleep(SLEEP_MILLIS);
    latch.countDown();
  }
}
