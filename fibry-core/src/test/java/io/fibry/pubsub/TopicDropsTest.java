package io.fibry.pubsub;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.DeadLetter.Reason;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pubsub.Topic.SubscriberStats;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** Tests that the drops of the subscribers of a topic are counted apart from their refusals. */
class TopicDropsTest extends TopicFixture {

  /** A listener reads the counts after the mailbox has refused, and before the topic knows. */
  @Promise("19.28")
  @Test
  void refusalThatTopicHasNotCountedIsNoDrop() {
    var opened = new CompletableFuture<Topic<Object>>();
    var reads = new CopyOnWriteArrayList<List<Object>>();
    var inner = scope.openScope("inner", options -> options.withDeadLetterListener(letter -> {
      var topic = opened.join();
      reads.add(List.of(letter.reason(), topic.stats().dropped(), topic.subscribers().getFirst().dropped()));
    }));
    Topic<Object> topic = Topic.open(inner.named("topic"));
    opened.complete(topic);
    var gate = new Gate();
    topic.subscribe(Mailbox.bounded(1, Overflow.REJECT), message -> gate.pass());
    topic.publish("occupies the subscriber");
    Patience.await(gate.entered);
    topic.publish("fills the mailbox");

    topic.publish("refused");

    assertEquals(List.of(List.of(Reason.REJECTED, 0L, 0L)), reads);
    assertEquals(0, topic.stats().dropped());
  }

  @Promise("19.28")
  @Test
  void deliveryToEndingActorDoesNotLowerDrops() {
    var gate = new Gate();
    var actor = scope.named("slow").mailbox(Mailbox.bounded(1, Overflow.DROP_OLDEST))
        .newActor((Object message) -> gate.pass());
    var topic = (ActorTopic<Object>) Topic.open(scope.named("topic"));
    var subscriber = new ActorSubscriber<Object>(topic, actor, true);
    subscriber.deliver("occupies the subscriber");
    Patience.await(gate.entered);
    for (int i = 0; i < 3; i++) subscriber.deliver(i);
    assertEquals(new SubscriberStats("slow", 4, 0, 2), subscriber.stats());

    actor.askExit();
    subscriber.deliver("undelivered");

    assertEquals(new SubscriberStats("slow", 4, 1, 2), subscriber.stats());
  }
}
