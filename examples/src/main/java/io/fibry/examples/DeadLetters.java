package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import java.util.concurrent.CountDownLatch;

/** A listener hears of every message that was not handled, and why. */
class DeadLetters {
  public static void main(String[] args) throws Exception {
    ActorSystem.configure(o -> o.withDeadLetters(
        letter -> System.out.println(letter.actor() + " lost " + letter.message() + ": " + letter.reason())));

    var divider = ActorSystem.named("divider").onFailure(FailurePolicy.resume().withoutLog())
        .newActor((Integer n) -> System.out.println("100 / " + n + " = " + 100 / n));
    divider.sendMessage(0);
    divider.sendMessage(5);
    divider.close();
    divider.sendMessage(10);

    var busy = new CountDownLatch(1);
    var gate = new CountDownLatch(1);
    var small = ActorSystem.named("small").mailbox(Mailbox.bounded(1, Overflow.REJECT)).newActor((String message) -> {
      busy.countDown();
      gate.await();
    });
    small.sendMessage("first");
    busy.await();
    small.sendMessage("second");
    small.sendMessage("third");
    gate.countDown();
    small.close();
  }
}
