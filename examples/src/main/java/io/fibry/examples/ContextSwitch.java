package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.fibry.stereotype.Stereotypes;

/** An actor asks another actor many times: first both run on threads, then on fibers. */
class ContextSwitch {
  public static void main(String[] args) {
    int requests = args.length == 0 ? 250_000 : Integer.parseInt(args[0]);
    run("threads", Strategy.THREAD, requests);
    run("fibers", Strategy.FIBER, requests);
  }

  private static void run(String label, Strategy strategy, int requests) {
    ActorSystem.setDefaultStrategy(strategy);
    long start = System.nanoTime();
    var squarer = ActorSystem.anonymous().newActorWithReturn((Integer n) -> n * n);
    Stereotypes.def().runOnceSilent(() -> {
      for (int i = 0; i < requests; i++) squarer.sendMessageReturn(i).get();
    }).closeOnExit(squarer).waitForExit();
    System.out
        .println(requests + " requests between " + label + ": " + (System.nanoTime() - start) / 1_000_000 + " ms");
  }
}
