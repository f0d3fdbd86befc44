package io.fibry.pubsub;

import static io.fibry.pubsub.ObservableValueTest.nullPointerMessage;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.AskCycleException;
import io.fibry.DeadLetter.Reason;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pubsub.Topic.SubscriberStats;
import io.fibry.pubsub.Topic.TopicStats;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class TopicTest extends TopicFixture {
  private final Topic<Object> topic = Topic.open(scope.named("topic"));

  @Test
  void messageWithoutSubscribersIsNoDeadLetter() {
    topic.publish(1);

    assertEquals(List.of(), letters.all);
  }

  @Promise("19.18")
  @Test
  void topicCountsItsMessagesAndDeliveries() {
    topic.publish("without subscribers");
    topic.subscribeToLatest(message -> {});
    var full = scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.REJECT)).newActor(Gate::passOrThrow);
    Gate.occupy(full);
    var subscription = topic.subscribe(full);
    Executor refusing = task -> {
      throw new RejectedExecutionException("planned");
    };
    var refusingSubscription = topic.subscribeOn(refusing, message -> {});
    topic.publish("first");
    refusingSubscription.close();
    topic.publish("second");

    assertEquals(new TopicStats(3, 3, 2, 0, 2), topic.stats()); // `full` refused the second, the executor the first
    subscription.close();
    assertEquals(1, topic.stats().subscribers());
    topic.kill();
    topic.publish("too late");
    assertEquals(new TopicStats(3, 3, 2, 0, 0), topic.stats());
  }

  @Promise("19.28")
  @Test
  void eachSubscriberHasItsDeliveriesRefusalsAndDrops() {
    var gate = new Gate();
    var entered = new CountDownLatch(3);
    Handler<Object> slow = message -> {
      if (message != gate) return;
      entered.countDown();
      gate.pass();
    };
    var dropping = topic.subscribe(Mailbox.bounded(2, Overflow.DROP_OLDEST), slow);
    topic.subscribe(Mailbox.bounded(2, Overflow.REJECT), slow);
    var full = scope.named("full").mailbox(Mailbox.bounded(1, Overflow.DROP_NEWEST)).newActor(slow);
    topic.subscribe(full);
    topic.subscribeOn(Runnable::run, message -> {});
    topic.publish(gate);
    Patience.await(entered);
    for (int i = 0; i < 5; i++) topic.publish(i);

    assertEquals(List.of(new SubscriberStats("topic/1", 6, 0, 3), new SubscriberStats("topic/2", 3, 3, 0),
        new SubscriberStats("full", 2, 4, 0), new SubscriberStats("executor", 6, 0, 0)), topic.subscribers());
    assertEquals(new TopicStats(6, 17, 7, 3, 4), topic.stats());
    gate.open();
    dropping.close();
    Patience.eventually(() -> topic.stats().equals(new TopicStats(6, 17, 7, 3, 3)));
    topic.close();
    assertEquals(new TopicStats(6, 17, 7, 3, 0), topic.stats());
    assertEquals(List.of(), topic.subscribers());
  }

  @Test
  void newSubscriberGetsOnlyLaterMessages() {
    topic.publish(1);
    topic.subscribeToLatest(received::add);
    topic.publish(2);
    topic.close();

    assertEquals(List.of(2), received);
  }

  @Test
  void actorSubscribedTwiceGetsEachMessageTwice() {
    var desk = scope.anonymous().newActor((Object m) -> received.add(m));
    topic.subscribe(desk);
    var secondSubscription = topic.subscribe(desk);

    topic.publish(1);
    secondSubscription.close();
    topic.publish(2);
    desk.close();

    assertEquals(List.of(1, 1, 2), received);
  }

  @Test
  void endedActorWithOneClosedSubscriptionGetsNoMessage() {
    var desk = scope.anonymous().newActor((Object m) -> received.add(m));
    topic.subscribe(desk);
    topic.subscribe(desk).close();
    desk.close();

    topic.publish(1);
    // message 1 may be a dead letter, because the topic may learn only from it that `desk` has
    // ended
    letters.all.clear();
    topic.publish(2);

    assertEquals(List.of(), letters.all);
  }

  @Test
  void endedActorIsNotSubscribed() {
    var desk = scope.anonymous().newActor((Object m) -> received.add(m));
    desk.close();

    topic.subscribe(desk);
    topic.publish(1);

    assertEquals(List.of(), letters.all);
  }

  @Promise("21.2")
  @Test
  void publisherWaitsForSubscriberWithBlockingMailbox() {
    var gate = new Gate();
    topic.subscribe(Mailbox.bounded(1, Overflow.BLOCK), m -> {
      gate.pass();
      received.add(m);
    });
    topic.publish(1);
    Patience.await(gate.entered);
    topic.publish(2);

    var publisher = Patience.startFiber(() -> topic.publish(3));
    Patience.awaitParked(publisher);
    gate.open();
    Patience.awaitEnd(publisher);
    topic.close();

    assertEquals(List.of(1, 2, 3), received);
  }

  @Test
  void interruptedPublisherContinuesAndStaysInterrupted() {
    var gate = new Gate();
    topic.subscribe(Mailbox.bounded(1, Overflow.BLOCK), m -> gate.pass());
    topic.subscribeToLatest(received::add);
    topic.publish(1);
    Patience.await(gate.entered);
    topic.publish(2);
    var interrupted = new CompletableFuture<Boolean>();
    var publisher = Patience.startFiber(() -> {
      topic.publish(3);
      return Thread.currentThread().isInterrupted();
    }, interrupted);
    Patience.awaitParked(publisher);

    publisher.interrupt();

    assertTrue(Patience.value(interrupted));
    assertEquals(List.of(3), letters.messages(Reason.REJECTED));
    gate.open();
    topic.close();
    assertEquals(List.of(1, 2, 3), received);
  }

  @Test
  void cyclicPublishFailsAfterOtherSubscribersGotMessage() {
    var cycle = new CompletableFuture<Object>();
    topic.subscribe(Mailbox.bounded(1, Overflow.BLOCK), m -> {
      if (!m.equals("first")) return;
      topic.publish("fills the mailbox");
      cycle.complete(assertThrows(AskCycleException.class, () -> topic.publish("one too many")));
    });
    topic.subscribeToLatest(received::add);

    topic.publish("first");

    Patience.value(cycle);
    topic.close();
    assertEquals(List.of("fills the mailbox", "first", "one too many"), received.stream().sorted().toList());
  }

  @Test
  void subscribersKeepLatest1024Messages() {
    var gate = new Gate();
    publishWhileBusy(topic, gate, 1_026);

    assertEquals(List.of(1, 2), letters.messages(Reason.DROPPED));
  }

  @Test
  void subscribersUseMailboxOfBuilder() {
    var gate = new Gate();
    publishWhileBusy(Topic.open(scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.REJECT))), gate, 3);

    assertEquals(List.of(2, 3), letters.messages(Reason.REJECTED));
  }

  @Test
  void subscribersUseMailboxOfScope() {
    var innerScope = scope.openScope("inner", o -> o.withMailbox(Mailbox.bounded(1, Overflow.DROP_NEWEST)));
    var gate = new Gate();
    publishWhileBusy(Topic.open(innerScope.anonymous()), gate, 3);

    assertEquals(List.of(2, 3), letters.messages(Reason.DROPPED));
  }

  private static void publishWhileBusy(Topic<Object> topic, Gate gate, int messages) {
    topic.subscribeToLatest(m -> gate.pass());
    topic.publish(0);
    Patience.await(gate.entered);
    for (int i = 1; i <= messages; i++) topic.publish(i);
  }

  @Test
  void topicHasNameOfBuilderAndItsActorsUseNameAsPrefix() {
    var names = new CopyOnWriteArrayList<>();
    topic.subscribeToLatest(m -> names.add(Thread.currentThread().getName()));

    topic.publish(1);
    topic.close();

    assertEquals("topic", topic.name());
    assertEquals(List.of("topic/1"), names);
  }

  @Test
  void nameOfTopicIsRefusedUntilTopicEnds() {
    assertThrows(IllegalArgumentException.class, () -> Topic.open(scope.named("topic")));

    topic.subscribeToLatest(received::add);
    topic.close();
    var secondTopic = Topic.open(scope.named("topic"));
    secondTopic.subscribeToLatest(received::add);

    assertEquals("topic", secondTopic.name());
  }

  @Test
  void topicFoundByNamePublishesSentMessages() {
    Topic<String> topicByName = Topic.open(scope.named("found").protocol(String.class));
    topicByName.subscribeToLatest(received::add);

    scope.find("found", String.class).orElseThrow().sendMessage("hello");
    Patience.eventually(() -> received.size() == 1);

    assertEquals(List.of("hello"), received);
  }

  @Test
  void interceptorSeesPublishedMessagesButNoSubscriptions() {
    var interceptedMessages = new CopyOnWriteArrayList<String>();
    Topic<String> texts = Topic.open(scope.anonymous().<String>intercept((m, next) -> {
      interceptedMessages.add(m.toUpperCase(java.util.Locale.ROOT));
      next.run();
    }));
    var desk = scope.anonymous().newActor((String m) -> {});
    texts.subscribeToLatest(received::add);
    texts.subscribe(desk).close();
    texts.subscribe(desk);
    desk.close();

    texts.publish("a");
    texts.close();

    assertEquals(List.of("a"), received);
    assertEquals(List.of("A"), interceptedMessages);
    assertEquals(List.of(), letters.messages(Reason.FAILED));
  }

  @Test
  void exceptionNamesNullArgument() {
    Handler<Object> handler = received::add;
    var actor = scope.anonymous().newActor(handler);

    assertEquals("builder", nullPointerMessage(() -> Topic.open(null)));
    assertEquals("message", nullPointerMessage(() -> topic.publish(null)));
    assertEquals("subscriber", nullPointerMessage(() -> topic.subscribe((Actor<Object>) null)));
    assertEquals("subscriber", nullPointerMessage(() -> topic.subscribeToLatest((Handler<Object>) null)));
    assertEquals("subscriber", nullPointerMessage(() -> topic.subscribe(Mailbox.unbounded(), null)));
    assertEquals("mailbox", nullPointerMessage(() -> topic.subscribe(null, handler)));
    assertEquals("executor", nullPointerMessage(() -> topic.subscribeOn((Executor) null, handler)));
    assertEquals("subscriber", nullPointerMessage(() -> topic.subscribeOn(actor, null)));
    assertEquals("a resource", nullPointerMessage(() -> topic.closeOnExit((AutoCloseable) null)));
  }

  @Test
  void endedTopicRefusesSubscribersAndLeavesNoActor() {
    topic.close();
    var calls = new ArrayList<Runnable>();
    calls.add(() -> topic.subscribeToLatest(received::add));
    calls.add(() -> topic.subscribe(Mailbox.unbounded(), received::add));
    calls.add(() -> topic.subscribe(scope.anonymous().strategy(Strategy.CALLER).newActor((Object m) -> {})));
    calls.add(() -> topic.subscribeOn(Runnable::run, received::add));

    for (var call : calls) {
      var refusal = assertThrows(IllegalStateException.class, call::run);
      assertEquals("topic 'topic' has ended and takes no subscriber; make a new one", refusal.getMessage());
    }

    // the thread of the topic's actor ends a little later than the topic
    Patience.eventually(() -> !scope.dump().contains("topic"));
  }

  @Test
  void onExitReturnsSameReadOnlyFuture() {
    assertSame(topic.onExit(), topic.onExit());
    assertThrows(UnsupportedOperationException.class, () -> topic.onExit().cancel(true));
  }
}
