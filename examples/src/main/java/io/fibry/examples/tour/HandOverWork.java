package io.fibry.examples.tour;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.Strategy;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedTransferQueue;

/** Two players pass a ball to each other. */
public final class HandOverWork {
  private HandOverWork() {}

  private static final class Ball {
    private final CountDownLatch gameOver = new CountDownLatch(1);
    private int remainingHits; // used by the player that has the ball
  }

  private static final class Player {
    private Actor<Ball> partner; // set before the first hit

    void hit(Ball ball) {
      if (--ball.remainingHits == 0) ball.gameOver.countDown();
      else partner.sendMessage(ball);
    }
  }

  /** The players are actors on fibers. */
  public static Side.Work actors() {
    return times -> {
      var builder = ActorSystem.anonymous().strategy(Strategy.FIBER);
      var ping = new Player();
      var pong = new Player();
      var pingActor = builder.newActor(ping::hit);
      ping.partner = builder.newActor(pong::hit);
      pong.partner = pingActor;
      var ball = new Ball();
      ball.remainingHits = times;
      long start = System.nanoTime();
      pingActor.sendMessage(ball);
      ball.gameOver.await();
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
