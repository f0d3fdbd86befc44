package io.fibry.bench;

import io.fibry.bench.peer.Peer;
import io.fibry.bench.peer.Peers;
import io.fibry.bench.peer.Receiver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;

/**
 * The work that is the same for each peer: two actors that send to each other, and messages sent
 * later.
 */
final class PeerWorkloads {
  private static final Duration SOON = Duration.ofMillis(50);

  private PeerWorkloads() {}

  private static final class Ball {
    private final CountDownLatch end = new CountDownLatch(1);
    private int left; // of the actor that has the ball

    private Ball(int hits) {
      this.left = hits;
    }
  }

  /** Each message wakes the other actor. */
  static double handOvers(String who, int times) throws Exception {
    try (var peer = Peers.of(who)) {
      var players = new ArrayList<Receiver<Ball>>();
      players.add(peer.actor(ball -> hit(ball, players.getLast())));
      players.add(peer.actor(ball -> hit(ball, players.getFirst())));
      var ball = new Ball(times);
      return ActorWorkloads.onVirtualThread(times, () -> {
        players.getFirst().send(ball);
        ball.end.await();
      });
    }
  }

  private static void hit(Ball ball, Receiver<Ball> other) {
    if (--ball.left == 0) ball.end.countDown();
    else other.send(ball);
  }

  /** Measures from setting the first timer to handling the last message. */
  static double timers(String who, int times) throws Exception {
    try (var peer = Peers.of(who, Peer.Timers.class)) {
      var all = new CountDownLatch(times);
      Receiver<CountDownLatch> actor = peer.actor(CountDownLatch::countDown);
      return ActorWorkloads.onVirtualThread(times, () -> {
        for (int i = 0; i < times; i++) peer.later(actor, all, SOON);
        all.await();
      });
    }
  }
}
