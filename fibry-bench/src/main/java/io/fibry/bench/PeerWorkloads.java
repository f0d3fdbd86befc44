package io.fibry.bench;

import io.fibry.bench.peer.Peer;
import io.fibry.bench.peer.Peers;
import io.fibry.bench.peer.Receiver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Random;
import java.util.concurrent.CountDownLatch;

/**
 * Workloads that run on any peer: two actors that send a message to each other, delayed messages,
 * and messages with a priority.
 */
final class PeerWorkloads {
  private static final Duration DELAY = Duration.ofMillis(50);
  private static final Duration CANCELLED_DELAY = Duration.ofHours(1);

  private PeerWorkloads() {}

  private static final class Ball {
    private final CountDownLatch lastHit = new CountDownLatch(1);
    private int remaining; // hits; used only by the actor that has the ball

    private Ball(int hits) {
      this.remaining = hits;
    }
  }

  /** Each message wakes the other actor. */
  static double handOvers(String peerName, int times) throws Exception {
    try (var peer = Peers.of(peerName)) {
      var players = new ArrayList<Receiver<Ball>>();
      players.add(peer.actor(ball -> hit(ball, players.getLast())));
      players.add(peer.actor(ball -> hit(ball, players.getFirst())));
      var ball = new Ball(times);
      return ActorWorkloads.onVirtualThread(times, () -> {
        players.getFirst().send(ball);
        ball.lastHit.await();
      });
    }
  }

  private static void hit(Ball ball, Receiver<Ball> opponent) {
    if (--ball.remaining == 0) ball.lastHit.countDown();
    else opponent.send(ball);
  }

  /** Measures the time from the first timer that is set to the last message that is handled. */
  static double timers(String peerName, int times) throws Exception {
    try (var peer = Peers.of(peerName, Peer.Timers.class)) {
      var handled = new CountDownLatch(times);
      Receiver<CountDownLatch> actor = peer.actor(CountDownLatch::countDown);
      return ActorWorkloads.onVirtualThread(times, () -> {
        for (int i = 0; i < times; i++) peer.later(actor, handled, DELAY);
        handled.await();
      });
    }
  }

  /**
   * Measures the time to set timers of an hour, and to cancel them. A collection precedes the round
   * and is not measured, so no side pays for the cancelled timers that it still has in memory. In
   * the question {@link Timers}, a side that keeps them pays for each collection.
   */
  static double cancelledTimers(String peerName, int times) throws Exception {
    try (var peer = Peers.of(peerName, Peer.Timers.class)) {
      var timers = new Runnable[times];
      Receiver<Object> actor = peer.actor(message -> {});
      return ActorWorkloads.onVirtualThread(times, () -> {
        for (int i = 0; i < times; i++) timers[i] = peer.later(actor, timers, CANCELLED_DELAY);
        for (var timer : timers) timer.run();
      });
    }
  }

  /** All messages wait before the first is handled; the smallest is handled first. */
  static double priority(String peerName, int times) throws Exception {
    try (var peer = Peers.of(peerName, Peer.PriorityMailboxes.class)) {
      var isFirstHandled = new CountDownLatch(1);
      var areAllSent = new CountDownLatch(1);
      var handled = new CountDownLatch(times + 1);
      Receiver<Integer> actor = peer.prioritized(number -> {
        handled.countDown();
        if (number == 0) awaitSenders(isFirstHandled, areAllSent);
      });
      var numbers = new Random(42).ints(times, 1, 1_000_000).boxed().toArray(Integer[]::new);
      return ActorWorkloads.onVirtualThread(times, () -> {
        actor.send(0);
        isFirstHandled.await();
        for (var number : numbers) actor.send(number);
        areAllSent.countDown();
        handled.await();
      });
    }
  }

  private static void awaitSenders(CountDownLatch isFirstHandled, CountDownLatch areAllSent) {
    isFirstHandled.countDown();
    try {
      areAllSent.await();
    } catch (InterruptedException interruption) {
      throw new AssertionError(interruption);
    }
  }
}
