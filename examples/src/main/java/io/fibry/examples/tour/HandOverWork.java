package io.fibry.examples.tour;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.Strategy;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedTransferQueue;

/** Two pass a ball to each other. */
public final class HandOverWork {
  private HandOverWork() {}

  private static final class Ball {
    private final CountDownLatch down = new CountDownLatch(1);
    private int left; // of the player that has the ball
  }

  private static final class Player {
    private Actor<Ball> other; // set before the first ball

    void hit(Ball ball) {
      if (--ball.left == 0) ball.down.countDown();
      else other.sendMessage(ball);
    }
  }

  /** The players are actors on fibers. */
  public static Side.Work actors() {
    return times -> {
      var how = ActorSystem.anonymous().strategy(Strategy.FIBER);
      var ping = new Player();
      var pong = new Player();
      var first = how.newActor(ping::hit);
      ping.other = how.newActor(pong::hit);
      pong.other = first;
      var ball = new Ball();
      ball.left = times;
      long start = System.nanoTime();
      first.sendMessage(ball);
      ball.down.await();
      return System.nanoTime() - start;
    };
  }

  /** The players are virtual threads, each with a queue. */
  public static Side.Work queues() {
    return times -> {
      var pings = new LinkedTransferQueue<Ball>();
      var pongs = new LinkedTransferQueue<Ball>();
      long start = System.nanoTime();
      pings.put(new Ball());
      var ping = MessageWork.start((times + 1) / 2, () -> pongs.put(pings.take()));
      var pong = MessageWork.start(times / 2, () -> pings.put(pongs.take()));
      ping.join();
      pong.join();
      return System.nanoTime() - start;
    };
  }
}
