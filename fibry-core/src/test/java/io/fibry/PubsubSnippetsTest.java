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
  private final List<Object> seen = new CopyOnWriteArrayList<>();

  private void print(Object line) {
    seen.add(line);
  }

  @Test
  void topic() {
    // @start region="topic"
    try (Topic<Integer> prices = Topic.open(ActorSystem.anonymous())) {
      prices.subscribeToLatest(price -> print("the latest 1,024 wait: " + price));
      prices.subscribe(Mailbox.bounded(10, Overflow.BLOCK), price -> print("slow, holds the publisher back: " + price));
      prices.subscribeOn(Runnable::run, price -> print("on the publisher's thread: " + price));
      var leaving = prices.subscribeToLatest(price -> print("never called: " + price));
      leaving.close();

      prices.publish(42);
    } // handles what was published, then ends its actors
    // @end

    assertEquals(
        List.of("on the publisher's thread: 42", "slow, holds the publisher back: 42", "the latest 1,024 wait: 42"),
        seen.stream().sorted().toList());
  }

  @Test
  void sharedValue() {
    // @start region="observableValue"
    ObservableValue<Integer> level = ObservableValue.of(ActorSystem.anonymous(), 0);
    // first the present value; a slow follower is told the latest
    level.subscribe(now -> print("level " + now));

    level.update(now -> now + 1);
    boolean changed = level.compareAndSet(1, 2);
    int now = level.value();
    // @end

    assertTrue(changed);
    assertEquals(2, now);
    Patience.eventually(() -> seen.contains("level 2"));
  }

  @Test
  void sharedMap() {
    // @start region="observableMap"
    ObservableMap<String, Integer> stock = ObservableMap.of(ActorSystem.anonymous());
    stock.subscribe(change -> print(change.key() + ": " + change.value().orElse(0)));
    stock.subscribe("hats", left -> print("hats left: " + left.orElse(0)));

    stock.put("hats", 5);
    stock.update("hats", left -> left.map(hats -> hats - 1));
    Optional<Integer> shoes = stock.value("shoes"); // empty
    // @end

    assertEquals(Optional.empty(), shoes);
    assertEquals(Map.of("hats", 4), stock.snapshot());
    Patience.eventually(() -> seen.containsAll(List.of("hats: 4", "hats left: 4")));
  }
}
