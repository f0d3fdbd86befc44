package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import java.util.concurrent.CountDownLatch;

/** A listener gets every message that was not handled, with the reason. */
class DeadLetters {
  public static void main(String[] args) throws Exception {
    ActorSystem.configure(options -> options.withDeadLetterListener(
        letter -> System.out.println(letter.actor() + " lost " + letter.message() + ": " + letter.reason())));

    var divider = ActorSystem.named("divider").onFailure(FailurePolicy.resume().withoutLog())
        .newActor((Integer n) -> System.out.println("100 / " + n + " = " + 100 / n));
    divider.sendMessage(0);
    divider.sendMessage(5);
    divider.close();
    divider.sendMessage(10);

    var isBusy = new CountDownLatch(1);
    var gate = new CountDownLatch(1);
    var bounded = ActorSystem.named("small").mailbox(Mailbox.bounded(1, Overflow.REJECT)).newActor((String message) -> {
      isBusy.countDown();
      gate.await();
    });
    bounded.sendMessage("first");
    isBusy.await();
    bounded.sendMessage("second");
    bounded.sendMessage("third");
    gate.countDown();
    bounded.close();
  }
}
