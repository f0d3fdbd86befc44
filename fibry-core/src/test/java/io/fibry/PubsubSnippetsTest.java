package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pubsub.ObservableMap;
import io.fibry.pubsub.ObservableValue;
import io.fibry.pubsub.Topic;
import io.fibry.support.Patience;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class PubsubSnippetsTest {
  private final List<Object> printed = new CopyOnWriteArrayList<>();

  private void print(Object line) {
    printed.add(line);
  }

  @Test
  void topicNotifiesOnlyOpenSubscriptions() {
    // @start region="topic"
    try (Topic<Integer> prices = Topic.open(ActorSystem.anonymous())) {
      prices.subscribeToLatest(price -> print("the latest 1,024 wait: " + price));
      prices.subscribe(Mailbox.bounded(10, Overflow.BLOCK), price -> print("slow, holds the publisher back: " + price));
      prices.subscribeOn(Runnable::run, price -> print("on the publisher's thread: " + price));
      var subscription = prices.subscribeToLatest(price -> print("never called: " + price));
      subscription.close();

      prices.publish(42);
    } // handles all published messages, then ends its actors
    // @end

    assertEquals(
        List.of("on the publisher's thread: 42", "slow, holds the publisher back: 42", "the latest 1,024 wait: 42"),
        printed.stream().sorted().toList());
  }

  @Test
  void subscriberGetsLatestValueOfObservable() {
    // @start region="observableValue"
    ObservableValue<Integer> level = ObservableValue.of(ActorSystem.anonymous(), 0);
    // called with the present value first; a slow subscriber gets the latest value only
    level.subscribe(now -> print("level " + now));

    level.update(now -> now + 1);
    boolean changed = level.compareAndSet(1, 2);
    int now = level.value();
    // @end

    assertTrue(changed);
    assertEquals(2, now);
    Patience.eventually(() -> printed.contains("level 2"));
  }

  @Test
  void mapSubscribersGetChangesOfTheirKeys() {
    // @start region="observableMap"
    ObservableMap<String, Integer> stock = ObservableMap.of(ActorSystem.anonymous());
    stock.subscribe(change -> print(change.key() + ": " + change.value().orElse(0)));
    stock.subscribe("hats", count -> print("hats left: " + count.orElse(0)));

    stock.put("hats", 5);
    stock.update("hats", count -> count.map(hats -> hats - 1));
    Optional<Integer> shoes = stock.value("shoes"); // empty
    // @end

    assertEquals(Optional.empty(), shoes);
    assertEquals(Map.of("hats", 4), stock.snapshot());
    Patience.eventually(() -> printed.containsAll(List.of("hats: 4", "hats left: 4")));
  }
}
