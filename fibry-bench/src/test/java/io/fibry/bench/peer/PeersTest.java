package io.fibry.bench.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.fibry.support.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** All peers do the same job. */
class PeersTest {
  private static final int MANY = 10_000;

  static Stream<String> all() {
    return Stream.of("fiber", "thread", "resident", "forkjoin", "caller", "sink", "pekko", "pekko-tuned", "pojo-actor",
        "jox", "kotlin", "jctools", "virtual-queue", "platform-queue", "executor", "executor-virtual");
  }

  static Stream<String> inOrder() {
    return all().filter(who -> !who.equals("executor-virtual"));
  }

  static Stream<String> bounded() {
    // the caller itself would wait at the gate
    return named(Peer.BoundedMailboxes.class).filter(who -> !who.equals("caller"));
  }

  static Stream<String> prioritised() {
    return named(Peer.PriorityMailboxes.class).filter(who -> !who.equals("caller"));
  }

  static Stream<String> answering() {
    return named(Peer.Requests.class);
  }

  static Stream<String> timed() {
    return named(Peer.Timers.class);
  }

  private static Stream<String> named(Class<? extends Peer> shape) {
    return all().filter(who -> {
      try (var peer = Peers.of(who)) {
        return shape.isInstance(peer);
      }
    });
  }

  @ParameterizedTest
  @MethodSource("inOrder")
  void messagesOfOneSenderAreHandledInOrder(String who) {
    try (var peer = Peers.of(who)) {
      var seen = new ArrayList<Integer>();
      var end = new CountDownLatch(1);
      Receiver<Integer> actor = peer.actor(number -> {
        seen.add(number);
        if (number == MANY - 1) end.countDown();
      });

      for (int i = 0; i < MANY; i++) actor.send(i);

      Patience.await(end);
      assertEquals(IntStream.range(0, MANY).boxed().toList(), seen);
      actor.end();
    }
  }

  @ParameterizedTest
  @MethodSource("all")
  void messagesOfManySendersAreHandledOneAtATime(String who) {
    try (var peer = Peers.of(who)) {
      var count = new int[1];
      var end = new CountDownLatch(1);
      Receiver<Integer> actor = peer.actor(number -> {
        if (++count[0] == 4 * MANY) end.countDown();
      });

      for (int i = 0; i < 4; i++) Thread.startVirtualThread(() -> actor.sendAll(1, MANY));

      Patience.await(end);
      actor.end();
    }
  }

  @ParameterizedTest
  @MethodSource("bounded")
  void senderWaitsForRoom(String who) throws InterruptedException {
    try (var peer = Peers.of(who, Peer.BoundedMailboxes.class)) {
      var gate = new Semaphore(0);
      Receiver<Integer> actor = peer.bounded(4, number -> gate.acquireUninterruptibly());
      var sent = new Semaphore(0);

      Thread.startVirtualThread(() -> {
        for (int i = 0; i < 10; i++) {
          actor.send(i);
          sent.release();
        }
      });

      Patience.acquired(sent, 4);
      assertFalse(sent.tryAcquire(3, 50, TimeUnit.MILLISECONDS),
          "more than four waited, beside the one being handled and one in between");
      gate.release(10);
      Patience.acquired(sent, 6);
      actor.end();
    }
  }

  @ParameterizedTest
  @MethodSource("prioritised")
  void smallestMessageIsHandledFirst(String who) {
    try (var peer = Peers.of(who, Peer.PriorityMailboxes.class)) {
      var busy = new CountDownLatch(1);
      var gate = new Semaphore(0);
      var end = new CountDownLatch(4);
      var seen = new ArrayList<Integer>();
      Receiver<Integer> actor = peer.prioritised(number -> {
        busy.countDown();
        if (seen.isEmpty()) gate.acquireUninterruptibly();
        seen.add(number);
        end.countDown();
      });

      actor.send(9);
      Patience.await(busy);
      for (int number : new int[] {3, 1, 2}) actor.send(number);
      gate.release();

      Patience.await(end);
      assertEquals(List.of(9, 1, 2, 3), seen);
      actor.end();
    }
  }

  @ParameterizedTest
  @MethodSource("answering")
  void bothKindsOfThreadsAreAnswered(String who) {
    try (var peer = Peers.of(who, Peer.Requests.class)) {
      Answerer<Integer, Integer> squares = peer.answering(n -> n * n);
      var virtual = new CompletableFuture<Integer>();

      Thread.startVirtualThread(() -> virtual.complete(squares.askAll(8, 10)));

      assertEquals(49, squares.askAll(7, 10));
      assertEquals(64, Patience.value(virtual));
    }
  }

  /** Cancels a timer before it is due: where that takes longer, the next timer is longer. */
  @ParameterizedTest
  @MethodSource("timed")
  void timerFiresUnlessCancelled(String who) {
    try (var peer = Peers.of(who, Peer.Timers.class)) {
      for (long millis = 40; !isTakenBack(peer, Duration.ofMillis(millis)); millis *= 2);
    }
  }

  private static boolean isTakenBack(Peer.Timers peer, Duration delay) {
    var fired = new Semaphore(0);
    Receiver<Integer> actor = peer.actor(number -> fired.release(number));

    long began = System.nanoTime();
    peer.later(actor, 1_000, delay).run();
    boolean inTime = System.nanoTime() - began < delay.toNanos();
    peer.later(actor, 1, delay.plusMillis(10));

    Patience.acquired(fired);
    if (inTime) assertEquals(0, fired.availablePermits());
    actor.end();
    return inTime;
  }
}
