package io.fibry.pubsub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.DeadLetter.Reason;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.stereotype.Stereotypes;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TopicExecutorTest extends TopicFixture {
  private final Topic<Object> topic = Topic.open(scope.named("topic"));

  private static void fail(Object message) {
    throw new IllegalStateException("cannot do " + message);
  }

  @Test
  void subscriberOnPublisherThreadHasRunWhenPublishReturns() {
    topic.subscribeOn(Runnable::run, m -> received.add(Thread.currentThread()));

    topic.publish(1);

    assertEquals(List.of(Thread.currentThread()), received);
  }

  @Test
  void sharedActorRunsSubscribersInOrderOfSubscription() {
    var sharedActor = scope.anonymous().newActor((Object m) -> {});
    topic.subscribeOn(sharedActor, m -> received.add("a" + m));
    topic.subscribeOn(sharedActor, m -> received.add("b" + m));

    topic.publish(1);
    topic.publish(2);
    sharedActor.close();

    assertEquals(List.of("a1", "b1", "a2", "b2"), received);
  }

  @Test
  void executorOfVirtualThreadsHandlesMessagesInParallel() {
    var allRunning = new CountDownLatch(10);
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      topic.subscribeOn(executor, m -> {
        allRunning.countDown();
        Patience.await(allRunning);
        received.add(m);
      });

      for (int i = 0; i < 10; i++) topic.publish(i);
    }

    assertEquals(IntStream.range(0, 10).<Object>mapToObj(i -> i).toList(), received.stream().sorted().toList());
  }

  @Test
  void topicMayPublishToOtherTopic() {
    Topic<Object> nextTopic = Topic.open(scope.anonymous());
    nextTopic.subscribeToLatest(received::add);
    topic.subscribeOn(Runnable::run, nextTopic::publish);

    topic.publish(1);
    nextTopic.close();

    assertEquals(List.of(1), received);
  }

  @Test
  void failedSubscriberIsLoggedAndOtherSubscribersGetMessage() {
    try (var log = new Logged()) {
      topic.subscribeOn(Runnable::run, TopicExecutorTest::fail);
      topic.subscribeOn(Runnable::run, m -> {
        throw new StackOverflowError();
      });
      topic.subscribeOn(Runnable::run, received::add);

      topic.publish(7);

      assertEquals(List.of(7), received);
      assertTrue(log.text().contains("topic 'topic': a subscriber failed at 7") && log.text().contains("cannot do 7"),
          log::text);
    }
  }

  @Test
  void publisherKeepsInterruptFlagThatSubscriberConsumed() {
    try (var log = new Logged()) {
      topic.subscribeOn(Runnable::run, m -> new CountDownLatch(1).await());
      Thread.currentThread().interrupt();

      topic.publish(1);

      assertTrue(Thread.interrupted(), log::text);
    }
  }

  @Test
  void failurePolicyOfExecutingActorHandlesSubscriberFailure() {
    var sharedActor = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newActor((Object m) -> {});
    topic.subscribeOn(sharedActor, m -> {
      throw new java.io.IOException("cannot do " + m);
    });
    topic.subscribeOn(sharedActor, received::add);

    topic.publish(1);
    sharedActor.close();

    assertEquals(List.of(1), received);
    assertEquals("cannot do 1", letters.all.getFirst().cause().orElseThrow().getMessage());
    assertEquals("'topic' published 1", letters.all.getFirst().message().toString());
  }

  @Test
  void refusalOfExecutorIsLoggedAndExecutorStaysSubscribed() {
    var refusals = new ArrayList<>(List.of(1));
    try (var log = new Logged()) {
      topic.subscribeOn(task -> {
        if (!refusals.isEmpty()) throw new RejectedExecutionException("busy with " + refusals.removeFirst());
        task.run();
      }, received::add);
      topic.subscribeOn(Runnable::run, received::add);

      topic.publish("a");
      topic.publish("b");

      assertEquals(List.of("a", "b", "b"), received);
      assertTrue(log.text().contains("did not take \"a\"") && log.text().contains("busy with 1"), log::text);
    }
  }

  @Test
  void executorThatWasShutDownIsLoggedOnceAndUnsubscribed() {
    ExecutorService pool = Executors.newSingleThreadExecutor();
    topic.subscribeOn(pool, received::add);
    pool.close();
    try (var log = new Logged()) {

      topic.publish("a");
      topic.publish("b");

      assertTrue(log.text().contains("did not take \"a\""), log::text);
      assertFalse(log.text().contains("did not take \"b\""), log::text);
    }
  }

  @Test
  void endedActorAndSinkAreUnsubscribed() {
    var actor = scope.anonymous().newActor((Object m) -> {});
    var sink = Stereotypes.of(scope.anonymous()).sink("s");
    topic.subscribeOn(actor, received::add);
    topic.subscribeOn(sink, received::add);
    actor.close();
    sink.close();

    for (int i = 0; i < 100; i++) topic.publish(i);

    assertEquals(List.of(), received);
    // the first message may become two dead letters, because the topic may learn only from it that
    // both actors have ended
    assertTrue(letters.all.size() <= 2, () -> "dead letters: " + letters.messages());
  }

  @Test
  void messageRefusedByFullActorIsDeadLetterOfActor() {
    var gate = new Gate();
    var actor = scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.REJECT)).newActor((Object m) -> gate.pass());
    topic.subscribeOn(actor, received::add);
    actor.sendMessage(1);
    Patience.await(gate.entered);

    topic.publish("waits");
    topic.publish("refused");
    gate.open();
    actor.close();

    assertEquals(List.of("waits"), received);
    assertEquals("'topic' published \"refused\"", letters.messages(Reason.REJECTED).getFirst().toString());
  }

  @Test
  void queuedTaskDoesNothingAfterSubscriptionIsClosed() {
    var tasks = new ArrayList<Runnable>();
    var subscription = topic.subscribeOn(tasks::add, received::add);
    topic.publish(1);

    subscription.close();
    tasks.forEach(Runnable::run);

    assertEquals(List.of(), received);
  }

  @Test
  void unsubscribedDuringPublishGetsNoMessage() {
    var subscription = new CompletableFuture<Subscription>();
    topic.subscribeOn(Runnable::run, m -> subscription.join().close());
    var desk = scope.anonymous().newActor((Object m) -> received.add(m));
    subscription.complete(topic.subscribe(desk));

    topic.publish(1);
    desk.close();

    assertEquals(List.of(), received);
  }

  @Test
  void subscriberMayCloseItsSubscriptionInItsHandler() {
    var subscription = new CompletableFuture<Subscription>();
    subscription.complete(topic.subscribeOn(Runnable::run, m -> {
      received.add(m);
      subscription.join().close();
    }));

    topic.publish(1);
    topic.publish(2);

    assertEquals(List.of(1), received);
  }

  @Test
  void messagePublishedBeforeCloseIsStillHandled() {
    var tasks = new ArrayList<Runnable>();
    topic.subscribeOn(tasks::add, received::add);
    topic.publish(1);

    topic.close();
    tasks.forEach(Runnable::run);

    assertEquals(List.of(1), received);
  }

  @Test
  void messagePublishedBeforeAskExitIsNotHandled() {
    var tasks = new ArrayList<Runnable>();
    topic.subscribeOn(tasks::add, received::add);
    topic.publish(1);

    topic.askExit();
    tasks.forEach(Runnable::run);

    assertEquals(List.of(), received);
  }

  @Test
  void publishAllocatesNoMoreThanSendToEachSubscriber() {
    var threads = (com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean();
    var actors = new ArrayList<io.fibry.Actor<Object>>();
    for (int i = 0; i < 1_000; i++) actors.add(scope.anonymous().strategy(Strategy.CALLER).newActor((Object m) -> {}));
    actors.forEach(topic::subscribe);
    Runnable publish = () -> topic.publish("m");
    Runnable send = () -> actors.forEach(actor -> actor.sendMessage("m"));
    for (int i = 0; i < 200; i++) List.of(publish, send).forEach(Runnable::run);

    // Waits, because each message allocates 32 bytes more until the code is compiled, which takes
    // longer on a busy machine.
    Patience.eventually("publishing allocates more than sending",
        () -> minAllocatedBytes(threads, publish) <= minAllocatedBytes(threads, send) + 1_000);
  }

  /**
   * Returns the minimum of several measurements, because other work of the thread may allocate,
   * too.
   */
  private static long minAllocatedBytes(com.sun.management.ThreadMXBean threads, Runnable code) {
    long min = Long.MAX_VALUE;
    for (int i = 0; i < 20; i++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      code.run();
      min = Math.min(min, threads.getCurrentThreadAllocatedBytes() - before);
    }
    return min;
  }
}
