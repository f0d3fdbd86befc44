package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.dashboard.TopicPanel.TopicSample;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pubsub.Subscription;
import io.fibry.pubsub.Topic;
import io.fibry.pubsub.Topic.SubscriberStats;
import io.fibry.pubsub.Topic.TopicStats;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the messages of a topic and its subscribers, as a dashboard shows them. */
class TopicPanelTest {
  private static final long SECOND = 1_000_000_000;

  private final ActorScope scope = ActorSystem.openScope("app");
  private final CountDownLatch gate = new CountDownLatch(1);
  private final Topic<String> topic = Topic.open(scope.named("sold"));

  @AfterEach
  void close() {
    gate.countDown();
    scope.closeWithin(Duration.ZERO);
  }

  private String statistics() throws Exception {
    try (var dashboard = Dashboard.open(scope, 0, options -> options.withTopic(topic))) {
      return Web.get(dashboard.port(), "/statistics");
    }
  }

  /** Publishes five messages to an actor of the topic, whose mailbox drops three of them. */
  private Subscription loseThreeOfFive() throws InterruptedException {
    var entered = new CountDownLatch(1);
    var subscription = topic.subscribe(Mailbox.bounded(1, Overflow.DROP_OLDEST), message -> {
      entered.countDown();
      gate.await();
    });
    topic.publish("1");
    Patience.await(entered);
    for (int i = 2; i <= 5; i++) topic.publish("" + i);
    return subscription;
  }

  @Test
  void refusalsAndDropsAreLost() throws Exception {
    loseThreeOfFive();
    var entered = new CountDownLatch(1);
    var audit = scope.named("audit").mailbox(Mailbox.bounded(1, Overflow.REJECT)).newActor((String message) -> {
      entered.countDown();
      gate.await();
    });
    audit.sendMessage("handled");
    Patience.await(entered);
    audit.sendMessage("waits");
    topic.subscribe(audit);
    topic.subscribeOn(Runnable::run, message -> {});
    topic.publish("6");
    topic.publish("7");

    var text = statistics();

    assertTrue(text.contains("{\"title\":\"sold\",\"published\":7,\"delivered\":9,\"lost\":7,\"waiting\":2,"
        + "\"subscriberCount\":3,\"isLosing\":false,\"subscribers\":["
        + "{\"name\":\"sold/1\",\"delivered\":7,\"lost\":5,\"waiting\":1,\"isLosing\":false},"
        + "{\"name\":\"audit\",\"delivered\":0,\"lost\":2,\"waiting\":1,\"isLosing\":false},"
        + "{\"name\":\"executor\",\"delivered\":2,\"lost\":0,\"waiting\":null,\"isLosing\":false}]}"), text);
  }

  @Test
  void lossesOfEndedSubscriberRemainInSums() throws Exception {
    var subscription = loseThreeOfFive();
    assertTrue(statistics().contains("\"published\":5,\"delivered\":5,\"lost\":3,\"waiting\":1,"));

    subscription.close();
    gate.countDown();
    Patience.eventually(() -> scope.actors().stream().noneMatch(actor -> actor.name().equals("sold/1")));

    var text = statistics();
    assertTrue(text.contains("\"published\":5,\"delivered\":5,\"lost\":3,\"waiting\":0,\"subscriberCount\":0,"
        + "\"isLosing\":false,\"subscribers\":[]}"), text);
  }

  @Test
  void actorsWithNamesLikeSubscribersAreNotShown() throws Exception {
    topic.subscribeToLatest(message -> {});
    scope.openScope("other").named("sold/7").newActor((String message) -> {});
    Topic<String> second = Topic.open(scope.openScope("second").named("sold"));
    second.subscribeToLatest(message -> {});

    var text = statistics();

    assertTrue(text.contains("\"subscribers\":[{\"name\":\"sold/1\",\"delivered\":0,\"lost\":0,\"waiting\":null,"
        + "\"isLosing\":false}]}"), text); // two actors are named sold/1
  }

  private static TopicSample sample(Optional<TopicSample> previous, SubscriberStats... subscribers) {
    long lost = Stream.of(subscribers).mapToLong(SubscriberStats::dropped).sum();
    return TopicSample.of("sold", new TopicStats(9, 9, 0, lost, subscribers.length), List.of(subscribers), List.of(),
        previous, SECOND);
  }

  private static List<Object> rows(TopicSample sample) {
    var rows = new ArrayList<Object>();
    rows.add(sample.asMap().get("isLosing"));
    for (var row : (List<?>) sample.asMap().get("subscribers"))
      rows.add(JsonText.of(row).replaceAll(",\"waiting.*", ""));
    return rows;
  }

  @Test
  void subscriberThatLostMessagesWithinLastMinuteComesFirst() {
    var old = new SubscriberStats("old", 9, 0, 9);
    var before = sample(Optional.empty(), old, new SubscriberStats("recent", 9, 0, 0));
    assertEquals(List.of(false, "{\"name\":\"old\",\"delivered\":9,\"lost\":9", "{\"name\":\"recent\",\"delivered\":9,"
        + "\"lost\":0"), rows(before));

    var recent = new SubscriberStats("recent", 9, 0, 1);
    var sample = sample(Optional.of(before), old, recent);
    for (int second = 0; second < 60; second++) {
      assertEquals(List.of(true, "{\"name\":\"recent\",\"delivered\":9,\"lost\":1", "{\"name\":\"old\",\"delivered\":9,"
          + "\"lost\":9"), rows(sample));
      sample = sample(Optional.of(sample), old, recent);
    }
    assertEquals(false, rows(sample).getFirst());
  }

  @Test
  void subscribersWithEqualNamesAreOneRow() {
    var sample = sample(Optional.empty(), new SubscriberStats("audit", 4, 0, 1), new SubscriberStats("audit", 4, 0, 2));

    assertEquals(List.of(false, "{\"name\":\"audit\",\"delivered\":8,\"lost\":3"), rows(sample));
  }
}
