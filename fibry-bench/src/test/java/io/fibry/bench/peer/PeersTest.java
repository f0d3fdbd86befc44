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

/** Tests that all peers do the same job. */
class PeersTest {
  private static final int MESSAGES = 10_000;

  static Stream<String> allPeers() {
    return Stream.of("fiber", "thread", "resident", "forkjoin", "caller", "sink", "pekko", "pekko-tuned", "pojo-actor",
        "jox", "kotlin", "jctools", "virtual-queue", "platform-queue", "executor", "executor-virtual");
  }

  static Stream<String> peersWithOrder() {
    return allPeers().filter(name -> !name.equals("executor-virtual"));
  }

  static Stream<String> boundedPeers() {
    // with "caller", the sender itself runs the handler, and would wait at the gate
    return peersOf(Peer.BoundedMailboxes.class).filter(name -> !name.equals("caller"));
  }

  static Stream<String> priorityPeers() {
    return peersOf(Peer.PriorityMailboxes.class).filter(name -> !name.equals("caller"));
  }

  static Stream<String> answeringPeers() {
    return peersOf(Peer.Requests.class);
  }

  static Stream<String> timerPeers() {
    return peersOf(Peer.Timers.class);
  }

  private static Stream<String> peersOf(Class<? extends Peer> type) {
    return allPeers().filter(name -> {
      try (var peer = Peers.of(name)) {
        return type.isInstance(peer);
      }
    });
  }

  @ParameterizedTest
  @MethodSource("peersWithOrder")
  void messagesOfOneSenderAreHandledInOrder(String name) {
    try (var peer = Peers.of(name)) {
      var handledMessages = new ArrayList<Integer>();
      var allHandled = new CountDownLatch(1);
      Receiver<Integer> actor = peer.actor(number -> {
        handledMessages.add(number);
        if (number == MESSAGES - 1) allHandled.countDown();
      });

      for (int i = 0; i < MESSAGES; i++) actor.send(i);

      Patience.await(allHandled);
      assertEquals(IntStream.range(0, MESSAGES).boxed().toList(), handledMessages);
      actor.end();
    }
  }

  @ParameterizedTest
  @MethodSource("allPeers")
  void messagesOfManySendersAreHandledOneAtATime(String name) {
    try (var peer = Peers.of(name)) {
      var count = new int[1];
      var allHandled = new CountDownLatch(1);
      Receiver<Integer> actor = peer.actor(number -> {
        if (++count[0] == 4 * MESSAGES) allHandled.countDown();
      });

      var senders = IntStream.range(0, 4)
          .mapToObj(i -> CompletableFuture.runAsync(() -> actor.sendAll(1, MESSAGES), Patience::startFiber)).toList();

      senders.forEach(Patience::value);
      Patience.await(allHandled);
      actor.end();
    }
  }

  @ParameterizedTest
  @MethodSource("boundedPeers")
  void senderWaitsWhenBoundedMailboxIsFull(String name) throws InterruptedException {
    try (var peer = Peers.of(name, Peer.BoundedMailboxes.class)) {
      var gate = new Semaphore(0);
      Receiver<Integer> actor = peer.bounded(4, number -> gate.acquireUninterruptibly());
      var sentMessages = new Semaphore(0);

      var sending = CompletableFuture.runAsync(() -> {
        for (int i = 0; i < 10; i++) {
          actor.send(i);
          sentMessages.release();
        }
      }, Patience::startFiber);

      try {
        Patience.acquire(sentMessages, 4);
        assertFalse(sentMessages.tryAcquire(3, 50, TimeUnit.MILLISECONDS),
            "more than six messages were accepted: four in the mailbox, one handled, one between the two");
      } finally {
        gate.release(10);
      }
      Patience.value(sending);
      actor.end();
    }
  }

  @ParameterizedTest
  @MethodSource("priorityPeers")
  void priorityMailboxHandlesSmallestMessageFirst(String name) {
    try (var peer = Peers.of(name, Peer.PriorityMailboxes.class)) {
      var firstArrived = new CountDownLatch(1);
      var gate = new Semaphore(0);
      var allHandled = new CountDownLatch(4);
      var handledMessages = new ArrayList<Integer>();
      Receiver<Integer> actor = peer.prioritized(number -> {
        firstArrived.countDown();
        if (handledMessages.isEmpty()) gate.acquireUninterruptibly();
        handledMessages.add(number);
        allHandled.countDown();
      });

      actor.send(9);
      Patience.await(firstArrived);
      for (int number : new int[] {3, 1, 2}) actor.send(number);
      gate.release();

      Patience.await(allHandled);
      assertEquals(List.of(9, 1, 2, 3), handledMessages);
      actor.end();
    }
  }

  @ParameterizedTest
  @MethodSource("answeringPeers")
  void requestsOfPlatformAndVirtualThreadsAreAnswered(String name) {
    try (var peer = Peers.of(name, Peer.Requests.class)) {
      Answerer<Integer, Integer> squares = peer.answering(n -> n * n);
      var answerForFiber = new CompletableFuture<Integer>();

      Patience.startFiber(() -> squares.askAll(8, 10), answerForFiber);

      assertEquals(49, squares.askAll(7, 10));
      assertEquals(64, Patience.value(answerForFiber));
    }
  }

  /** Cancels a timer before it is due. If that takes too long, a longer timer is cancelled next. */
  @ParameterizedTest
  @MethodSource("timerPeers")
  void timerFiresUnlessCancelled(String name) {
    try (var peer = Peers.of(name, Peer.Timers.class)) {
      for (long millis = 40; !isCancelledInTime(peer, Duration.ofMillis(millis)); millis *= 2);
    }
  }

  private static boolean isCancelledInTime(Peer.Timers peer, Duration delay) {
    var firings = new Semaphore(0);
    Receiver<Integer> actor = peer.actor(number -> firings.release(number));

    long startTime = System.nanoTime();
    peer.later(actor, 1_000, delay).run();
    boolean isInTime = System.nanoTime() - startTime < delay.toNanos();
    peer.later(actor, 1, delay.plusMillis(10));

    Patience.acquire(firings);
    if (isInTime) assertEquals(0, firings.availablePermits());
    actor.end();
    return isInTime;
  }
}
