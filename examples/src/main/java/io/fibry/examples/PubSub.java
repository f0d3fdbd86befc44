package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pubsub.SharedValue;
import io.fibry.pubsub.Topic;
import io.fibry.stereotype.Stereotypes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Prices for all who want them. What a slow subscriber costs, its mailbox says: prices, or the
 * publisher's time.
 */
class PubSub {
  private static final CountDownLatch slowOnesAreBusy = new CountDownLatch(2);
  private static final CountDownLatch gate = new CountDownLatch(1);

  public static void main(String[] args) throws Exception {
    Topic<Integer> prices = Topic.of(ActorSystem.named("prices"));
    var all = new ArrayList<Integer>();
    var latest = new ArrayList<Integer>();
    var audited = new ArrayList<Integer>();
    var fourPrices = new CountDownLatch(4);

    prices.subscribe(all::add);
    // sees the latest
    prices.subscribe(Mailbox.bounded(1, Overflow.DROP_OLDEST), price -> slowly(latest, price));
    var desk = ActorSystem.named("desk").newActor((Integer price) -> System.out.println("desk: " + price));
    prices.subscribe(desk);
    prices.subscribeOn(Runnable::run, price -> fourPrices.countDown()); // on the publisher's thread
    // sees all, and holds the publisher back
    prices.subscribe(Mailbox.bounded(2, Overflow.BLOCK), price -> slowly(audited, price));

    prices.publish(1);
    slowOnesAreBusy.await();
    desk.close(); // who ends is forgotten
    var publisher = Stereotypes.fibers().runOnce(() -> List.of(2, 3, 4).forEach(prices::publish));
    fourPrices.await();
    System.out.println("publisher is through: " + publisher.waitForExit(Duration.ofMillis(20)));
    gate.countDown();
    publisher.waitForExit();
    prices.close(); // handles what was published, then ends the actors it made
    System.out.println("all: " + all + ", the latest: " + latest + ", audited: " + audited);

    var level = SharedValue.of(ActorSystem.anonymous(), 0);
    var told = new CountDownLatch(1);
    level.subscribe(now -> { // the latest, when it is slow: but the last one always
      if (now == 1_000) told.countDown();
    });
    for (int i = 0; i < 1_000; i++) level.update(now -> now + 1);
    told.await();
    System.out.println("level: " + level.value());
  }

  private static void slowly(ArrayList<Integer> list, Integer price) throws Exception {
    slowOnesAreBusy.countDown();
    gate.await();
    list.add(price);
  }
}
