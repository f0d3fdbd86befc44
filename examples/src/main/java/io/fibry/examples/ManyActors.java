package io.fibry.examples;

import io.fibry.Sink;
import io.fibry.stereotype.Stereotypes;
import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** A million actors that wait. An actor is an object; it has a thread only while it works. */
class ManyActors {
  public static void main(String[] args) {
    int count = args.length == 0 ? 1_000_000 : Integer.parseInt(args[0]);
    var actors = new ArrayList<Sink<Void>>();
    for (int i = 0; i < count; i++) actors.add(Stereotypes.fibers().sink(null));
    System.out.println(actors.size() + " actors wait for work");

    var sum = new AtomicInteger();
    Stereotypes.fibers().runOnce(() -> {
      for (var actor : actors) sum.addAndGet(actor.ask(state -> 1));
    }).waitForExit();
    System.out.println(sum + " have answered");
  }
}
