package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.stereotype.Stereotypes;

/** A virtual thread that asks an idle actor runs the handler itself, without a thread switch. */
class InlineRequests {
  public static void main(String[] args) {
    var normal = ActorSystem.anonymous().newActorWithReturn((Thread asker) -> asker == Thread.currentThread());
    var inline =
        ActorSystem.anonymous().inlineRequests().newActorWithReturn((Thread asker) -> asker == Thread.currentThread());

    Stereotypes.fibers().runOnce(() -> {
      System.out.println("on the asker's own thread, as usual: " + normal.ask(Thread.currentThread()));
      System.out.println("on the asker's own thread, inline: " + inline.ask(Thread.currentThread()));
    }).waitForExit();

    System.out.println("from a platform thread: " + inline.ask(Thread.currentThread()));
  }
}
