package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.stereotype.Stereotypes;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** Tasks that run once, several times, or until a condition holds, even if a run fails. */
class ScheduledTasks {
  private static final Duration SOON = Duration.ofMillis(20);

  public static void main(String[] args) {
    var fibers = Stereotypes.fibers();

    fibers.scheduleWithFixedDelay(SOON, SOON, self -> {
      System.out.println("once");
      self.askExit();
    }).waitForExit();

    var ticks = new AtomicInteger();
    fibers.scheduleAtFixedRate(Duration.ZERO, SOON, self -> {
      System.out.println("tick " + ticks.incrementAndGet());
      if (ticks.get() == 3) self.askExit();
    }).waitForExit();

    var polls = new AtomicInteger();
    fibers.scheduleWithFixedDelay(Duration.ZERO, SOON, self -> {
      boolean isDone = polls.incrementAndGet() == 3;
      System.out.println("poll " + polls + ": " + (isDone ? "done" : "not yet"));
      if (isDone) self.askExit();
    }).waitForExit();

    var runs = new AtomicInteger();
    Stereotypes.of(ActorSystem.anonymous().onFailure(FailurePolicy.resume().withoutLog()))
        .scheduleAtFixedRate(SOON, SOON, self -> {
          if (runs.incrementAndGet() == 2) throw new IllegalStateException("no");
          if (runs.get() == 4) self.askExit();
        }).waitForExit();
    System.out.println("failed at run 2, and went on: " + runs + " runs");
  }
}
