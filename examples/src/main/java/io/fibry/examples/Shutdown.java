package io.fibry.examples;

import io.fibry.ActorSystem;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** Closing a scope accounts for every message. */
class Shutdown {
  public static void main(String[] args) throws Exception {
    var app = ActorSystem.openScope("app");
    var begun = new CountDownLatch(1);
    var slow = app.named("slow").newActor((String job) -> {
      begun.countDown();
      Thread.sleep(Duration.ofDays(1)); // ends when interrupted
    });
    var quick = app.named("quick").newActor((Integer n) -> {}); // made last, ends first
    for (int i = 0; i < 1_000; i++) quick.sendMessage(i);
    slow.sendMessage("the long one");
    slow.sendMessage("never begun");
    slow.sendMessage("nor this one");
    begun.await();

    var report = app.closeWithin(Duration.ofMillis(200));

    System.out.println(report.handled() + " handled of " + report.sent() + ", still running " + report.unresponsive());
    report.undelivered()
        .forEach(left -> System.out.println(left.actor() + " lost '" + left.message() + "': " + left.reason()));
    System.out.println("takes more: " + quick.sendMessage(1));
  }
}
