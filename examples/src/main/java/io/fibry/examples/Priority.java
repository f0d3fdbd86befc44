package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.mailbox.Mailbox;
import java.util.Comparator;
import java.util.concurrent.CountDownLatch;

/** A mailbox that delivers the most urgent message first. */
class Priority {
  record Job(String name, int urgency) {}

  public static void main(String[] args) throws Exception {
    var hasBegun = new CountDownLatch(1);
    var allSent = new CountDownLatch(1);
    var printer = ActorSystem.named("printer")
        .mailbox(Mailbox.priority(Comparator.comparing(Job::urgency).reversed()))
        .newActor(job -> {
          hasBegun.countDown();
          allSent.await();
          System.out.println(job.name());
        });

    printer.sendMessage(new Job("the job in progress", 0));
    hasBegun.await();
    printer.sendMessage(new Job("report", 1));
    printer.sendMessage(new Job("invoice", 5));
    printer.sendMessage(new Job("another invoice", 5));
    printer.sendMessage(new Job("alarm", 9));
    allSent.countDown();
    printer.close();
  }
}
