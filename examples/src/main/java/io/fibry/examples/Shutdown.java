package io.fibry.examples;

import io.fibry.ActorSystem;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** Closes a scope, whose report accounts for every message: handled, running or lost. */
class Shutdown {
  public static void main(String[] args) throws Exception {
    var app = ActorSystem.openScope("app");
    var hasBegun = new CountDownLatch(1);
    var slowActor = app.named("slow").newActor((String job) -> {
      hasBegun.countDown();
      Thread.sleep(Duration.ofDays(1)); // ends when interrupted
    });
    var quickActor = app.named("quick").newActor((Integer n) -> {}); // made last, ends first
    for (int i = 0; i < 1_000; i++) quickActor.sendMessage(i);
    slowActor.sendMessage("the long one");
    slowActor.sendMessage("never begun");
    slowActor.sendMessage("nor this one");
    hasBegun.await();

    var report = app.closeWithin(Duration.ofMillis(200));

    System.out.println(report.handled() + " handled of " + report.sent() + ", still running " + report.unresponsive());
    report.deadLetters()
        .forEach(lost -> System.out.println(lost.actor() + " lost '" + lost.message() + "': " + lost.reason()));
    System.out.println("takes more: " + quickActor.sendMessage(1));
  }
}
