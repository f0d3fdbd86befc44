package io.fibry.examples.tour;

import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.fibry.stereotype.Stereotypes;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.ThreadFactory;

/** Asks, waits for the answer, and asks again. */
public final class RequestWork {
  private RequestWork() {}

  /** An actor asks an actor. */
  public static Comparison.Work actors(Strategy strategy) {
    return times -> {
      var how = ActorSystem.anonymous().strategy(strategy);
      var act = how.newActorWithReturn((Integer n) -> n * n);
      long start = System.nanoTime();
      Stereotypes.of(how).runOnce(() -> {
        for (int i = 0; i < times; i++) act.sendMessageReturn(i).get();
      }).closeOnExit(act).waitForExit();
      return System.nanoTime() - start;
    };
  }

  /** Two threads, a queue of questions, and a queue of answers. */
  public static Comparison.Work queues(ThreadFactory factory) {
    return times -> {
      var questions = new LinkedTransferQueue<Integer>();
      var answers = new LinkedTransferQueue<Integer>();
      long start = System.nanoTime();
      var answerer = MessageWork.start(factory, times, () -> {
        int n = questions.take();
        answers.put(n * n);
      });
      var asker = MessageWork.start(factory, times, () -> {
        questions.put(1_000); // boxed each time, like the actor's messages
        answers.take();
      });
      asker.join();
      answerer.join();
      return System.nanoTime() - start;
    };
  }
}
