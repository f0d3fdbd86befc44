package io.fibry.examples.tour;

import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.fibry.stereotype.Stereotypes;
import java.util.concurrent.LinkedTransferQueue;

/** Asks, waits for the answer, and asks again. */
public final class RequestWork {
  private RequestWork() {}

  /** An actor asks an actor, both on fibers. */
  public static Side.Work actors() {
    return times -> {
      var how = ActorSystem.anonymous().strategy(Strategy.FIBER);
      var act = how.newActorWithReturn((Integer n) -> n * n);
      long start = System.nanoTime();
      Stereotypes.of(how).runOnce(() -> {
        for (int i = 0; i < times; i++) act.ask(i);
      }).closeOnExit(act).waitForExit();
      return System.nanoTime() - start;
    };
  }

  /** Two virtual threads, a queue of questions, and a queue of answers. */
  public static Side.Work queues() {
    return times -> {
      var questions = new LinkedTransferQueue<Integer>();
      var answers = new LinkedTransferQueue<Integer>();
      long start = System.nanoTime();
      var answerer = MessageWork.start(times, () -> {
        int n = questions.take();
        answers.put(n * n);
      });
      var asker = MessageWork.start(times, () -> {
        questions.put(1_000); // boxed each time, like the actor's messages
        answers.take();
      });
      asker.join();
      answerer.join();
      return System.nanoTime() - start;
    };
  }
}
