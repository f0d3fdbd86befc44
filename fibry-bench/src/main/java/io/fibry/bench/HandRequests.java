package io.fibry.bench;

import io.fibry.engine.carrier.CarriedDrain;
import io.fibry.engine.jvm.EngineThreads;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Requests by hand: the least that a request to a mailbox needs, without limits, failures, names
 * and stops. The asker is the caller's virtual thread. The squares come from a virtual thread that
 * parks while no question waits, or from a drain that ends then, as that of an actor.
 */
final class HandRequests {
  private HandRequests() {}

  private static final class Question {
    private final int n;
    private final Thread asker = Thread.currentThread();
    private volatile Integer answer; // null until the square is known

    Question(int n) {
      this.n = n;
    }

    void reply() {
      answer = n * n;
      LockSupport.unpark(asker);
    }

    Integer await() {
      while (answer == null) LockSupport.park(this);
      return answer;
    }
  }

  private interface Mailbox {
    void send(Question question);
  }

  private static double asks(Mailbox mailbox, int times) {
    long start = System.nanoTime();
    for (int i = 0; i < times; i++) {
      var question = new Question(i);
      mailbox.send(question);
      question.await();
    }
    return (double) (System.nanoTime() - start) / times;
  }

  /** A virtual thread answers, and stays. */
  static double residentThread(int times) {
    Queue<Question> mailbox = new ConcurrentLinkedQueue<>();
    var thread = Thread.startVirtualThread(() -> {
      for (int answered = 0; answered < times;) {
        var question = mailbox.poll();
        if (question == null) LockSupport.park(mailbox);
        else {
          question.reply();
          answered++;
        }
      }
    });
    return asks(question -> {
      mailbox.add(question);
      LockSupport.unpark(thread);
    }, times);
  }

  /** A drain answers. It ends when no question waits, and the next question starts it again. */
  static double startedDrain(int times) {
    return asks(new Drain()::send, times);
  }

  private static final class Drain implements CarriedDrain {
    private final Queue<Question> mailbox = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean isStarted = new AtomicBoolean(); // set by senders, cleared by the drain

    void send(Question question) {
      mailbox.add(question);
      if (isStarted.compareAndSet(false, true)) EngineThreads.startDrain(this);
    }

    @Override
    public boolean runOnce() {
      do {
        for (var question = mailbox.poll(); question != null; question = mailbox.poll()) question.reply();
        isStarted.set(false);
      } while (!mailbox.isEmpty() && isStarted.compareAndSet(false, true));
      return true;
    }

    @Override
    public void run() {
      runOnce();
    }

    @Override
    public void leaveThread() {}

    @Override
    public void forgetHandler() {}
  }
}
