package io.fibry.examples.tour;

import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.fibry.stereotype.Stereotypes;
import java.util.concurrent.LinkedTransferQueue;

/** Sends requests, and waits for each answer before the next request. */
public final class RequestWork {
  private RequestWork() {}

  /** An actor asks an actor, both on fibers. */
  public static Side.Work actors() {
    return times -> {
      var builder = ActorSystem.anonymous().strategy(Strategy.FIBER);
      var squarer = builder.newActorWithReturn((Integer n) -> n * n);
      long start = System.nanoTime();
      Stereotypes.of(builder).runOnce(() -> {
        for (int i = 0; i < times; i++) squarer.ask(i);
      }).closeOnExit(squarer).waitForExit();
      return System.nanoTime() - start;
    };
  }

  /** Two virtual threads exchange questions and answers by two queues. */
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
