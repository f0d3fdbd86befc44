package io.fibry.examples.tour;

import io.fibry.ActorSystem;
import io.fibry.Handler;
import io.fibry.Strategy;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.ThreadFactory;
import java.util.stream.Stream;

/** Messages from several senders to one receiver. */
public final class MessageWork {
  private MessageWork() {}

  /** The receiver is an actor. */
  public static Comparison.Work actor(Strategy strategy, ThreadFactory senders, int count) {
    return times -> {
      var handled = new long[1];
      var receiver = ActorSystem.anonymous().strategy(strategy).newActor((String message) -> handled[0]++);
      long start = System.nanoTime();
      send(senders, count, times / count, () -> receiver.sendMessage("a message"));
      receiver.close();
      long nanos = System.nanoTime() - start;
      if (handled[0] != times / count * count) throw new IllegalStateException("handled " + handled[0]);
      return nanos;
    };
  }

  /** The receiver is a thread that takes from a queue. */
  public static Comparison.Work queue(ThreadFactory factory, int count) {
    return times -> {
      var queue = new LinkedTransferQueue<String>();
      long start = System.nanoTime();
      var receiver = start(factory, times / count * count, queue::take);
      send(factory, count, times / count, () -> queue.put("a message"));
      receiver.join();
      return System.nanoTime() - start;
    };
  }

  private static void send(ThreadFactory factory, int count, int each, Handler.Task one) throws InterruptedException {
    var senders = Stream.generate(() -> start(factory, each, one)).limit(count).toList();
    for (var sender : senders) sender.join();
  }

  /** Starts a thread that runs the task many times. */
  static Thread start(ThreadFactory factory, int times, Handler.Task task) {
    var thread = factory.newThread(() -> {
      try {
        for (int i = 0; i < times; i++) task.run();
      } catch (Exception failure) {
        throw new IllegalStateException(failure);
      }
    });
    thread.start();
    return thread;
  }
}
