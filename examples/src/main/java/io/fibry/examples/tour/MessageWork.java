package io.fibry.examples.tour;

import io.fibry.ActorSystem;
import io.fibry.Handler;
import io.fibry.Strategy;
import java.util.concurrent.LinkedTransferQueue;
import java.util.stream.Stream;

/** Sends messages from several virtual threads to one receiver. */
public final class MessageWork {
  private MessageWork() {}

  /** The receiver is an actor on fibers. */
  public static Side.Work actor(int senders) {
    return times -> {
      var handled = new long[1];
      var receiver = ActorSystem.anonymous().strategy(Strategy.FIBER).newActor((String message) -> handled[0]++);
      long start = System.nanoTime();
      send(senders, times / senders, () -> receiver.sendMessage("a message"));
      receiver.close();
      long nanos = System.nanoTime() - start;
      if (handled[0] != times / senders * senders) throw new IllegalStateException("handled " + handled[0]);
      return nanos;
    };
  }

  /** The receiver is a virtual thread that takes from a queue. */
  public static Side.Work queue(int senders) {
    return times -> {
      var queue = new LinkedTransferQueue<String>();
      long start = System.nanoTime();
      var receiver = start(times / senders * senders, queue::take);
      send(senders, times / senders, () -> queue.put("a message"));
      receiver.join();
      return System.nanoTime() - start;
    };
  }

  private static void send(int count, int times, Handler.Task task) throws InterruptedException {
    var senders = Stream.generate(() -> start(times, task)).limit(count).toList();
    for (var sender : senders) sender.join();
  }

  /** Starts a virtual thread that runs the task many times. */
  static Thread start(int times, Handler.Task task) {
    return Thread.startVirtualThread(() -> {
      try {
        for (int i = 0; i < times; i++) task.run();
      } catch (Exception failure) {
        throw new IllegalStateException(failure);
      }
    });
  }
}
