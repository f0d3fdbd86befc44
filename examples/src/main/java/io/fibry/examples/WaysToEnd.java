package io.fibry.examples;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.Exitable;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

/** Three ways to end an actor that is busy while two messages wait. */
class WaysToEnd {
  public static void main(String[] args) throws Exception {
    show("poison pill", Exitable::sendPoisonPill);
    show("askExit", Exitable::askExit);
    show("kill", Exitable::kill);
  }

  private static void show(String label, Consumer<Actor<?>> end) throws Exception {
    var hasBegun = new CountDownLatch(1);
    var gate = new CountDownLatch(1);
    var handled = new ArrayList<Integer>();
    var actor = ActorSystem.anonymous().newActor((Integer message) -> {
      hasBegun.countDown();
      gate.await(); // kill interrupts the handler here
      handled.add(message);
    });
    actor.sendMessages(List.of(1, 2, 3));
    hasBegun.await();

    end.accept(actor);
    if (!label.equals("kill")) gate.countDown();
    actor.waitForExit();

    System.out
        .println(
            label + ": handled " + handled + ", " + actor.onExit().join() + ", takes more: " + actor.sendMessage(4));
  }
}
