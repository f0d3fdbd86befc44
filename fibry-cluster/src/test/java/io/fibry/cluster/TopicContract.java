package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pubsub.Topic;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** News from node to node. */
abstract class TopicContract {
  record News(int number) {}

  record Other(String text) {}

  private final String app;
  private final TestNetwork network;
  private final ConcurrentLinkedQueue<DeadLetter> letters = new ConcurrentLinkedQueue<>();
  private final ActorScope scope =
      ActorSystem.openScope("topic-test", options -> options.withDeadLetters(letters::add));
  private final ConcurrentLinkedQueue<Integer> read = new ConcurrentLinkedQueue<>();
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

  private List<Integer> all() {
    return List.copyOf(read);
  }

  @Test
  void allNodesHearInOrder() {
    var here = new ConcurrentLinkedQueue<Integer>();
    news(a).subscribe(Mailbox.unbounded(), one -> here.add(one.number()));
    news(b).subscribe(Mailbox.unbounded(), one -> read.add(one.number()));

    for (int i = 0; i < 500; i++) news(a).publish(new News(i));

    var expected = IntStream.range(0, 500).boxed().toList();
    Patience.eventually(() -> read.size() == 500 && here.size() == 500);
    assertEquals(expected, all());
    assertEquals(expected, List.copyOf(here));
  }

  @Test
  void entityAddressStaysSubscribedAfterPassivation() {
    a.host("reader", News.class, scope.anonymous(), Duration.ofMillis(1),
        (builder, key) -> builder.newActor((News one) -> read.add(one.number())));
    Topic<News> here = Topic.open(scope.anonymous());
    here.subscribe(a.entities("reader", News.class).actor("ada"));

    for (int i = 1; i <= 3; i++) { // it may be put away after each
      int number = i;
      here.publish(new News(number));
      Patience.eventually(() -> read.contains(number));
    }
    assertEquals(List.of(1, 2, 3), all());
  }

  @Test
  void closedSubscriptionAndClosedTopicGetNoNews() {
    var subscription = news(b).subscribe(Mailbox.unbounded(), one -> read.add(one.number()));
    news(a).publish(new News(1));
    Patience.eventually(() -> all().equals(List.of(1)));
    subscription.close();
    publishToNobody(new News(2));
    var first = news(b);
    first.close();
    first.publish(new News(3)); // a dead letter

    Patience.eventually(() -> letters.stream().anyMatch(one -> one.message().equals(new News(3))));
    news(b).subscribe(Mailbox.unbounded(), one -> read.add(one.number())); // another one
    news(a).publish(new News(4));
    Patience.eventually(() -> all().equals(List.of(1, 4)));
  }

  /** Returns when it has reached the network, and messages of node a before it have arrived. */
  private void publishToNobody(News one) {
    var behind = new CountDownLatch(1);
    b.topic("behind", News.class).subscribe(Mailbox.unbounded(), none -> behind.countDown());
    news(a).publish(one);
    a.topic("behind", News.class).publish(one);
    Patience.await(behind);
  }

  @Test
  void topicHasSingleMessageType() {
    assertSame(news(a), news(a));

    var failure = assertThrows(IllegalStateException.class, () -> a.topic("news", Other.class));

    assertEquals("node 'a' has topic 'news' with messages of " + News.class.getName() + ", and not of "
        + Other.class.getName(), failure.getMessage());
    assertThrows(IllegalArgumentException.class, () -> a.topic("no name", News.class));
    assertThrows(IllegalArgumentException.class, () -> a.topic("objects", Object.class));
  }

  @Test
  void foreignBytesAreNotPublishedAsNews() {
    news(b).subscribe(Mailbox.unbounded(), one -> read.add(one.number()));
    try (var foreign = network.connect(app, "foreign")) {
      foreign.publish(WireMessage.to(new Subjects(app).ofTopic("news"), Map.of(), new byte[] {1, 2, 3}));
      news(a).publish(new News(7));

      Patience.eventually(() -> all().equals(List.of(7)));
    }
  }

  /**
   * The subscriber is on the publisher's node, and the publisher does not wait. No other node has
   * the topic: it would lose the oldest news, too, if it were slow.
   */
  @Test
  void slowSubscriberDropsOldestNews() throws Exception {
    var gate = new CountDownLatch(1);
    var waits = new CountDownLatch(1);
    news(b).subscribe(Mailbox.bounded(1, Overflow.BLOCK), one -> {
      waits.countDown();
      gate.await();
      read.add(one.number());
    });
    news(b).publish(new News(0));
    waits.await();

    for (int i = 1; i <= 3_000; i++) news(b).publish(new News(i));
    Patience.eventually(() -> letters.size() > 1_000);
    gate.countDown();

    Patience.eventually(() -> read.contains(3_000));
    Patience.eventually(() -> read.size() + letters.size() == 3_001); // the last letter may come behind the news
    assertTrue(letters.stream().allMatch(one -> one.reason() == DeadLetter.Reason.DROPPED));
    assertEquals(all().stream().sorted().toList(), all());
  }

  @Test
  void closedNodePublishesNothing() {
    var topic = news(b);
    b.close();

    topic.publish(new News(1));

    Patience.eventually(() -> letters.stream().anyMatch(one -> one.message().equals(new News(1))));
    Patience.ended(topic::waitForExit);
  }
}
