package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.stereotype.Stereotypes;
import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;

/** A mailbox for two messages, which gets three: one run for each overflow policy. */
class BoundedMailbox {
  public static void main(String[] args) throws Exception {
    for (var overflow : Overflow.values()) show(overflow);
  }

  private static void show(Overflow overflow) throws Exception {
    var isBusy = new CountDownLatch(1);
    var gate = new CountDownLatch(1);
    var handled = new ArrayList<String>();
    var actor = ActorSystem.anonymous().mailbox(Mailbox.bounded(2, overflow)).newActor((String message) -> {
      isBusy.countDown();
      gate.await();
      handled.add(message);
    });
    actor.sendMessage("the one being handled");
    isBusy.await();

    var accepted = new ArrayList<Boolean>();
    var sender = Stereotypes.fibers().runOnce(() -> {
      for (var message : new String[] {"1st", "2nd", "3rd"}) accepted.add(actor.sendMessage(message));
    });
    // a blocked sender ends only after the gate opens
    if (overflow != Overflow.BLOCK) sender.waitForExit();
    gate.countDown();
    sender.waitForExit();
    actor.close();

    System.out.println(overflow + ": taken " + accepted + ", handled " + handled.subList(1, handled.size()));
  }
}
