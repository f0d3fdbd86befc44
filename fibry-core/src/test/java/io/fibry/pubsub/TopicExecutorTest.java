package io.fibry.pubsub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.FailurePolicy;
import io.fibry.Gate;
import io.fibry.Letters;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.stereotype.Stereotypes;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TopicExecutorTest {
  private final Letters letters = new Letters();
  private final ActorScope scope =
      ActorSystem.openScope("test", o -> o.withDeadLetters(letters).withKillGrace(Duration.ofMillis(50)));
  private final Topic<Object> topic = Topic.open(scope.named("topic"));
  private final List<Object> seen = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    scope.closeWithin(Patience.LONG);
  }

  private static void fail(Object message) {
    throw new IllegalStateException("cannot do " + message);
  }

  @Test
  void subscriberOnPublisherThreadHasRunWhenPublishReturns() {
    topic.subscribeOn(Runnable::run, m -> seen.add(Thread.currentThread()));

    topic.publish(1);

    assertEquals(List.of(Thread.currentThread()), seen);
  }

  @Test
  void anActorSharedBySeveralRunsThemInTurnAndInOrder() {
    var shared = scope.anonymous().newActor((Object m) -> {});
    topic.subscribeOn(shared, m -> seen.add("a" + m));
    topic.subscribeOn(shared, m -> seen.add("b" + m));

    topic.publish(1);
    topic.publish(2);
    shared.close();

    assertEquals(List.of("a1", "b1", "a2", "b2"), seen);
  }

  @Test
  void aVirtualThreadPerMessageHandlesAllAtTheSameTime() {
    var together = new CountDownLatch(10);
    try (var perMessage = Executors.newVirtualThreadPerTaskExecutor()) {
      topic.subscribeOn(perMessage, m -> {
        together.countDown();
        Patience.await(together);
        seen.add(m);
      });

      for (int i = 0; i < 10; i++) topic.publish(i);
    }

    assertEquals(IntStream.range(0, 10).<Object>mapToObj(i -> i).toList(), seen.stream().sorted().toList());
  }

  @Test
  void topicsCanBeChained() {
    Topic<Object> second = Topic.open(scope.anonymous());
    second.subscribeToLatest(seen::add);
    topic.subscribeOn(Runnable::run, second::publish);

    topic.publish(1);
    second.close();

    assertEquals(List.of(1), seen);
  }

  @Test
  void failureOnPublisherThreadIsLoggedAndHarmsNoOne() {
    try (var log = new Logged()) {
      topic.subscribeOn(Runnable::run, TopicExecutorTest::fail);
      topic.subscribeOn(Runnable::run, m -> {
        throw new StackOverflowError();
      });
      topic.subscribeOn(Runnable::run, seen::add);

      topic.publish(7);

      assertEquals(List.of(7), seen);
      assertTrue(log.text().contains("topic 'topic': a subscriber failed at 7") && log.text().contains("cannot do 7"),
          log::text);
    }
  }

  @Test
  void interruptOfPublisherSeenBySubscriberIsKept() {
    try (var log = new Logged()) {
      topic.subscribeOn(Runnable::run, m -> new CountDownLatch(1).await());
      Thread.currentThread().interrupt();

      topic.publish(1);

      assertTrue(Thread.interrupted(), log::text);
    }
  }

  @Test
  void failureOnActorIsForPolicyOfActor() {
    var shared = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newActor((Object m) -> {});
    topic.subscribeOn(shared, m -> {
      throw new java.io.IOException("cannot do " + m);
    });
    topic.subscribeOn(shared, seen::add);

    topic.publish(1);
    shared.close();

    assertEquals(List.of(1), seen);
    assertEquals("cannot do 1", letters.all.getFirst().cause().orElseThrow().getMessage());
    assertEquals("'topic' published 1", letters.all.getFirst().message().toString());
  }

  @Test
  void anExecutorThatRefusesIsLoggedAndAskedAgain() {
    var busy = new ArrayList<>(List.of(1));
    try (var log = new Logged()) {
      topic.subscribeOn(task -> {
        if (!busy.isEmpty()) throw new RejectedExecutionException("busy with " + busy.removeFirst());
        task.run();
      }, seen::add);
      topic.subscribeOn(Runnable::run, seen::add);

      topic.publish("a");
      topic.publish("b");

      assertEquals(List.of("a", "b", "b"), seen);
      assertTrue(log.text().contains("did not take \"a\"") && log.text().contains("busy with 1"), log::text);
    }
  }

  @Test
  void anExecutorThatWasShutDownIsLoggedOnceAndForgotten() {
    ExecutorService pool = Executors.newSingleThreadExecutor();
    topic.subscribeOn(pool, seen::add);
    pool.close();
    try (var log = new Logged()) {

      topic.publish("a");
      topic.publish("b");

      assertTrue(log.text().contains("did not take \"a\""), log::text);
      assertFalse(log.text().contains("did not take \"b\""), log::text);
    }
  }

  @Test
  void anActorOrSinkThatEndedIsForgotten() {
    var actor = scope.anonymous().newActor((Object m) -> {});
    var sink = Stereotypes.of(scope.anonymous()).sink("s");
    topic.subscribeOn(actor, seen::add);
    topic.subscribeOn(sink, seen::add);
    actor.close();
    sink.close();

    for (int i = 0; i < 100; i++) topic.publish(i);

    assertEquals(List.of(), seen);
    // their ends may be known after the first message
    assertTrue(letters.all.size() <= 2, () -> "dead letters: " + letters.messages());
  }

  @Test
  void messageRefusedByFullActorIsDeadLetterOfActor() {
    var gate = new Gate();
    var actor = scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.REJECT)).newActor((Object m) -> gate.pass());
    topic.subscribeOn(actor, seen::add);
    actor.sendMessage(1);
    Patience.await(gate.entered);

    topic.publish("waits");
    topic.publish("refused");
    gate.open();
    actor.close();

    assertEquals(List.of("waits"), seen);
    assertEquals("'topic' published \"refused\"", letters.messages(Reason.REJECTED).getFirst().toString());
  }

  @Test
  void callIsNotBegunAfterSubscriptionIsClosed() {
    var tasks = new ArrayList<Runnable>();
    var subscription = topic.subscribeOn(tasks::add, seen::add);
    topic.publish(1);

    subscription.close();
    tasks.forEach(Runnable::run);

    assertEquals(List.of(), seen);
  }

  @Test
  void unsubscribedDuringPublishGetsNoMessage() {
    var subscription = new CompletableFuture<Subscription>();
    topic.subscribeOn(Runnable::run, m -> subscription.join().close());
    var desk = scope.anonymous().newActor((Object m) -> seen.add(m));
    subscription.complete(topic.subscribe(desk));

    topic.publish(1);
    desk.close();

    assertEquals(List.of(), seen);
  }

  @Test
  void subscriberMayLeaveInItsOwnCode() {
    var subscription = new CompletableFuture<Subscription>();
    subscription.complete(topic.subscribeOn(Runnable::run, m -> {
      seen.add(m);
      subscription.join().close();
    }));

    topic.publish(1);
    topic.publish(2);

    assertEquals(List.of(1), seen);
  }

  @Test
  void messagePublishedBeforeCloseIsStillHandled() {
    var tasks = new ArrayList<Runnable>();
    topic.subscribeOn(tasks::add, seen::add);
    topic.publish(1);

    topic.close();
    tasks.forEach(Runnable::run);

    assertEquals(List.of(1), seen);
  }

  @Test
  void messagePublishedBeforeAskExitIsNotHandled() {
    var tasks = new ArrayList<Runnable>();
    topic.subscribeOn(tasks::add, seen::add);
    topic.publish(1);

    topic.askExit();
    tasks.forEach(Runnable::run);

    assertEquals(List.of(), seen);
  }

  @Test
  void publishingAllocatesNoMoreThanSendingToEach() {
    var threads = (com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean();
    var actors = new ArrayList<io.fibry.Actor<Object>>();
    for (int i = 0; i < 1_000; i++) actors.add(scope.anonymous().strategy(Strategy.CALLER).newActor((Object m) -> {}));
    actors.forEach(topic::subscribe);
    Runnable publishing = () -> topic.publish("m");
    Runnable sending = () -> actors.forEach(actor -> actor.sendMessage("m"));
    for (int i = 0; i < 200; i++) List.of(publishing, sending).forEach(Runnable::run);

    // A busy machine compiles later: until then each message costs 32 bytes more.
    Patience.eventually("publishing allocates more than sending",
        () -> allocated(threads, publishing) <= allocated(threads, sending) + 1_000);
  }

  /** The least of several: other threads may cost something, too. */
  private static long allocated(com.sun.management.ThreadMXBean threads, Runnable code) {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 20; i++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      code.run();
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }
    return least;
  }
}
