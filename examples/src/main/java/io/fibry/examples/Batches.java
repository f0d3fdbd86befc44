package io.fibry.examples;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.flow.Batch;
import io.fibry.stereotype.Stereotypes;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Handles messages in batches: lists, counts, or values merged by key. A batch fails as a whole.
 */
class Batches {
  record Price(String product, int cents) {}

  public static void main(String[] args) {
    Actor<Integer> log =
        Stereotypes.def().batch(3, Duration.ofSeconds(1), batch -> System.out.println("written together: " + batch));
    for (int i = 1; i <= 7; i++) log.sendMessage(i);
    log.close();

    try (var shop = ActorSystem.openScope("shop",
        options -> options
            .withDeadLetterListener(letter -> System.out.println("failed together: " + letter.message())))) {
      Actor<String> failingBatch = Batch.ofLists(shop.anonymous().onFailure(FailurePolicy.resume().withoutLog()), 2,
          Duration.ofSeconds(1), batch -> {
            if (batch.contains("bad")) throw new IllegalArgumentException("bad");
          });
      failingBatch.sendMessages(List.of("bad", "good"));
      failingBatch.close();
    }

    Actor<String> clicks = Batch.ofCounts(ActorSystem.named("clicks"), 1_000, Duration.ofSeconds(10),
        (Map<String, Long> counts) -> System.out.println("clicks: " + counts));
    List.of("home", "shop", "home").forEach(clicks::sendMessage);
    clicks.close();

    Actor<Price> prices = Batch.ofMerged(ActorSystem.anonymous(), 1_000, Duration.ofSeconds(10), Price::product,
        (older, newer) -> newer, Batches::print);
    List.of(new Price("apple", 20), new Price("pear", 45), new Price("apple", 30)).forEach(prices::sendMessage);
    prices.close();
  }

  private static void print(Map<String, Price> lastPrices) {
    var cents = new java.util.LinkedHashMap<String, Integer>();
    lastPrices.forEach((product, price) -> cents.put(product, price.cents()));
    System.out.println("last prices: " + cents);
  }
}
