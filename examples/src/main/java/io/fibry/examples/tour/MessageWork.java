package io.fibry.examples.tour;

import io.fibry.ActorSystem;
import io.fibry.Handler;
import io.fibry.Strategy;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.ThreadFactory;

/**
 * Messages that nobody waits for, from one or more senders to one receiver; they count when they
 * are handled.
 */
public final class MessageWork {
  private static final String MESSAGE = "a message";

  private MessageWork() {}

  /** The receiver is an actor. */
  public static Comparison.Work actor(Strategy strategy, ThreadFactory senders, int count) {
    return times -> {
      var handled = new long[1];
      var receiver = ActorSystem.anonymous().strategy(strategy).newActor((String message) -> handled[0]++);
      long start = System.nanoTime();
      send(senders, count, times, () -> receiver.sendMessage(MESSAGE));
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
      var receiver = start(factory, () -> {
        for (int i = 0; i < times / count * count; i++) queue.take();
      });
      send(factory, count, times, () -> queue.put(MESSAGE));
      receiver.join();
      return System.nanoTime() - start;
    };
  }

  private static void send(ThreadFactory factory, int count, int times, Handler.Task one) throws InterruptedException {
    var senders = new Thread[count];
    for (int s = 0; s < count; s++)
      senders[s] = start(factory, () -> {
        for (int i = 0; i < times / count; i++) one.run();
      });
    for (var sender : senders) sender.join();
  }

  /** Starts a thread on code that may throw. */
  static Thread start(ThreadFactory factory, Handler.Task task) {
    var thread = factory.newThread(() -> {
      try {
        task.run();
      } catch (Exception failure) {
        throw new IllegalStateException(failure);
      }
    });
    thread.start();
    return thread;
  }
}
