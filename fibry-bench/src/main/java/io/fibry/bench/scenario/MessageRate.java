package io.fibry.bench.scenario;

import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.fibry.stereotype.Stereotypes;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedTransferQueue;

/** Measures how many messages a second an actor handles, from one sender and from eight at once. */
public final class MessageRate {
  private static final Integer MESSAGE = 1_000;

  private MessageRate() {}

  /** Sends {@code -Dsize} messages. */
  public static void main(String[] args) throws Exception {
    int messages = Experiment.size(8_000_000);
    for (int senders : new int[] {1, 8}) {
      new Experiment("messages-" + senders,
          String.format("%,d messages to one actor, from %s", messages,
              senders == 1 ? "one sender" : senders + " senders at once"))
          .side("fibry, fibers", "M/s", senders == 1 ? "7.5 M/s" : "", () -> actor(Strategy.FIBER, senders, messages))
          .side("fibry, resident fibers", "M/s", "", () -> actor(Strategy.RESIDENT_FIBER, senders, messages))
          .side("fibry, platform threads", "M/s", senders == 1 ? "8.5 M/s" : "degraded less than fibers",
              () -> actor(Strategy.THREAD, senders, messages))
          .side("by hand: virtual threads and a queue", "M/s", "", () -> byHand(Thread.ofVirtual(), senders, messages))
          .side("by hand: platform threads and a queue", "M/s", "",
              () -> byHand(Thread.ofPlatform().daemon(), senders, messages))
          .runInTurns();
    }
  }

  private static double actor(Strategy strategy, int senders, int messages) throws Exception {
    int messagesPerSender = messages / senders;
    var allHandled = new CountDownLatch(1);
    var handled = new int[1];
    var actor = ActorSystem.anonymous().strategy(strategy).newActor((Integer message) -> {
      if (++handled[0] == messagesPerSender * senders) allHandled.countDown();
    });
    long began = System.nanoTime();
    for (int i = 0; i < senders; i++) {
      Stereotypes.of(ActorSystem.anonymous().strategy(strategy)).runOnce(() -> {
        for (int j = 0; j < messagesPerSender; j++) actor.sendMessage(MESSAGE);
      });
    }
    allHandled.await();
    double rate = messagesPerSender * senders / Experiment.secondsSince(began) / 1e6;
    actor.close();
    return rate;
  }

  private static double byHand(Thread.Builder threads, int senders, int messages) throws Exception {
    int messagesPerSender = messages / senders;
    var queue = new LinkedTransferQueue<Integer>();
    long began = System.nanoTime();
    var receiver = threads.start(() -> {
      try {
        for (int i = 0; i < messagesPerSender * senders; i++) queue.take();
      } catch (InterruptedException failure) {
        throw new AssertionError(failure);
      }
    });
    for (int i = 0; i < senders; i++) {
      threads.start(() -> {
        for (int j = 0; j < messagesPerSender; j++) queue.put(MESSAGE);
      });
    }
    receiver.join();
    return messagesPerSender * senders / Experiment.secondsSince(began) / 1e6;
  }
}
