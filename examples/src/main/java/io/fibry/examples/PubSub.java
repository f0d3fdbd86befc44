package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pubsub.Topic;
import io.fibry.stereotype.Stereotypes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** The mailbox of a slow subscriber decides whether prices are lost, or the publisher waits. */
class PubSub {
  private static final CountDownLatch SLOW_SUBSCRIBERS_BUSY = new CountDownLatch(2);
  private static final CountDownLatch GATE = new CountDownLatch(1);

  public static void main(String[] args) throws Exception {
    Topic<Integer> prices = Topic.open(ActorSystem.named("prices"));
    var allPrices = new ArrayList<Integer>();
    var latestPrices = new ArrayList<Integer>();
    var auditedPrices = new ArrayList<Integer>();
    var fourPrices = new CountDownLatch(4);

    prices.subscribeToLatest(allPrices::add); // up to 1,024 prices may wait
    prices.subscribe(Mailbox.bounded(1, Overflow.DROP_OLDEST), price -> slowly(latestPrices, price));
    var desk = ActorSystem.named("desk").newActor((Integer price) -> System.out.println("desk: " + price));
    prices.subscribe(desk);
    prices.subscribeOn(Runnable::run, price -> fourPrices.countDown()); // on the publisher's thread
    prices.subscribe(Mailbox.bounded(2, Overflow.BLOCK), price -> slowly(auditedPrices, price));

    prices.publish(1);
    SLOW_SUBSCRIBERS_BUSY.await();
    desk.close(); // which also ends its subscription
    var publisher = Stereotypes.fibers().runOnce(() -> List.of(2, 3, 4).forEach(prices::publish));
    fourPrices.await();
    System.out.println("publisher is through: " + publisher.waitForExit(Duration.ofMillis(20)));
    GATE.countDown();
    publisher.waitForExit();
    prices.close(); // delivers everything, then ends the subscribers that it made
    System.out.println("all: " + allPrices + ", the latest: " + latestPrices + ", audited: " + auditedPrices);
  }

  private static void slowly(ArrayList<Integer> list, Integer price) throws Exception {
    SLOW_SUBSCRIBERS_BUSY.countDown();
    GATE.await();
    list.add(price);
  }
}
