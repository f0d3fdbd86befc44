package io.fibry.examples.tour;

import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.fibry.stereotype.Stereotypes;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.ThreadFactory;

/** One asks another, waits for the answer, and asks again. */
public final class RequestWork {
  private RequestWork() {}

  /** An actor that asks an actor. */
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

  /** Two threads and two queues: one for questions, one for answers. */
  public static Comparison.Work queues(ThreadFactory factory) {
    return times -> {
      var questions = new LinkedTransferQueue<Integer>();
      var answers = new LinkedTransferQueue<Integer>();
      long start = System.nanoTime();
      var answering = MessageWork.start(factory, () -> {
        for (int i = 0; i < times; i++) {
          int n = questions.take();
          answers.put(n * n);
        }
      });
      var asking = MessageWork.start(factory, () -> {
        for (int i = 0; i < times; i++) {
          questions.put(i);
          answers.take();
        }
      });
      asking.join();
      answering.join();
      return System.nanoTime() - start;
    };
  }
}
