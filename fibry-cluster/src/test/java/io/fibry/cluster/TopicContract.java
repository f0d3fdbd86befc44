package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.cluster.wire.Subjects;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pubsub.Topic;
import io.fibry.support.Patience;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests topics whose publishers and subscribers are on several nodes. */
abstract class TopicContract {
  record News(int number) {}

  record OtherMessage(String text) {}

  private final String app;
  private final TestNetwork network;
  private final ConcurrentLinkedQueue<DeadLetter> deadLetters = new ConcurrentLinkedQueue<>();
  private final ActorScope scope =
      ActorSystem.openScope("topic-test", options -> options.withDeadLetterListener(deadLetters::add));
  private final ConcurrentLinkedQueue<Integer> received = new ConcurrentLinkedQueue<>();
  private final Cluster a;
  private final Cluster b;

  TopicContract(String app, TestNetwork network) {
    this.app = app;
    this.network = network;
    a = join("a");
    b = join("b");
  }

  private Cluster join(String node) {
    return Cluster.join(app, network, options -> options.withNode(node).withScope(scope));
  }

  @AfterEach
  void close() {
    a.close();
    b.close();
    scope.close();
  }

  private static Topic<News> news(Cluster node) {
    return node.topic("news", News.class);
  }

  private List<Integer> receivedNumbers() {
    return List.copyOf(received);
  }

  @Test
  void subscribersOfAllNodesGetMessagesInOrder() {
    var receivedByA = new ConcurrentLinkedQueue<Integer>();
    news(a).subscribe(Mailbox.unbounded(), item -> receivedByA.add(item.number()));
    news(b).subscribe(Mailbox.unbounded(), item -> received.add(item.number()));

    for (int i = 0; i < 500; i++) news(a).publish(new News(i));

    var expected = IntStream.range(0, 500).boxed().toList();
    Patience.eventually(() -> received.size() == 500 && receivedByA.size() == 500);
    assertEquals(expected, receivedNumbers());
    assertEquals(expected, List.copyOf(receivedByA));
  }

  @Test
  void entityAddressStaysSubscribedAfterPassivation() {
    a.host("reader", News.class, scope.anonymous(), Duration.ofMillis(1),
        (builder, key) -> builder.newActor((News item) -> received.add(item.number())));
    Topic<News> localTopic = Topic.open(scope.anonymous());
    localTopic.subscribe(a.entities("reader", News.class).actor("ada"));

    for (int i = 1; i <= 3; i++) { // the entity may be passivated after each message
      int number = i;
      localTopic.publish(new News(number));
      Patience.eventually(() -> received.contains(number));
    }
    assertEquals(List.of(1, 2, 3), receivedNumbers());
  }

  @Test
  void closedTopicIsGarbageCollected() {
    var topic = closedTopic();

    Patience.eventually(() -> {
      System.gc();
      return topic.refersTo(null);
    });
  }

  private WeakReference<Object> closedTopic() {
    var topic = news(b);
    topic.close();
    return new WeakReference<>(topic);
  }

  @Test
  void closedTopicOrSubscriptionDeliversNoMessages() {
    var subscription = news(b).subscribe(Mailbox.unbounded(), item -> received.add(item.number()));
    news(a).publish(new News(1));
    Patience.eventually(() -> receivedNumbers().equals(List.of(1)));
    subscription.close();
    publishWithoutSubscriber(new News(2));
    var topic = news(b);
    topic.close();
    topic.publish(new News(3)); // a dead letter

    Patience.eventually(() -> deadLetters.stream().anyMatch(item -> item.message().equals(new News(3))));
    news(b).subscribe(Mailbox.unbounded(), item -> received.add(item.number())); // a new subscription
    news(a).publish(new News(4));
    Patience.eventually(() -> receivedNumbers().equals(List.of(1, 4)));
  }

  /** Publishes the item, and waits until a later message of node a has arrived. */
  private void publishWithoutSubscriber(News item) {
    var laterMessage = new CountDownLatch(1);
    b.topic("behind", News.class).subscribe(Mailbox.unbounded(), later -> laterMessage.countDown());
    news(a).publish(item);
    a.topic("behind", News.class).publish(item);
    Patience.await(laterMessage);
  }

  @Test
  void topicOfOtherMessageTypeOrInvalidNameIsRefused() {
    assertSame(news(a), news(a));

    var failure = assertThrows(IllegalStateException.class, () -> a.topic("news", OtherMessage.class));

    assertEquals("node 'a' has topic 'news' with messages of " + News.class.getName() + ", and not of "
        + OtherMessage.class.getName(), failure.getMessage());
    assertThrows(IllegalArgumentException.class, () -> a.topic("no name", News.class));
    assertThrows(IllegalArgumentException.class, () -> a.topic("objects", Object.class));
  }

  @Test
  void foreignBytesAreNotDelivered() {
    news(b).subscribe(Mailbox.unbounded(), item -> received.add(item.number()));
    try (var foreign = network.connect(app, "foreign")) {
      foreign.publish(WireMessage.oneWay(new Subjects(app).ofTopic("news"), Map.of(), new byte[] {1, 2, 3}));
      news(a).publish(new News(7));

      Patience.eventually(() -> receivedNumbers().equals(List.of(7)));
    }
  }

  /**
   * The subscriber is on the publisher's node, and the publisher does not wait. No other node has
   * the topic, because a slow node would also lose the oldest messages.
   */
  @Test
  void slowSubscriberDropsOldestMessages() {
    var gate = new CountDownLatch(1);
    var handlerWaiting = new CountDownLatch(1);
    news(b).subscribe(Mailbox.bounded(1, Overflow.BLOCK), item -> {
      handlerWaiting.countDown();
      gate.await();
      received.add(item.number());
    });
    news(b).publish(new News(0));
    Patience.await(handlerWaiting);

    for (int i = 1; i <= 3_000; i++) news(b).publish(new News(i));
    Patience.eventually(() -> deadLetters.size() > 1_000);
    gate.countDown();

    Patience.eventually(() -> received.contains(3_000));
    Patience.eventually(() -> received.size() + deadLetters.size() == 3_001); // the last dead letter may come late
    assertTrue(deadLetters.stream().allMatch(item -> item.reason() == DeadLetter.Reason.DROPPED));
    assertEquals(receivedNumbers().stream().sorted().toList(), receivedNumbers());
  }

  @Test
  void messagePublishedOnClosedNodeBecomesDeadLetter() {
    var topic = news(b);
    b.close();

    topic.publish(new News(1));

    Patience.eventually(() -> deadLetters.stream().anyMatch(item -> item.message().equals(new News(1))));
    Patience.awaitEnd(topic::waitForExit);
  }
}
