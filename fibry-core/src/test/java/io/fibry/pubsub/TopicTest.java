package io.fibry.pubsub;

import static io.fibry.pubsub.SharedValueTest.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.AskCycleException;
import io.fibry.DeadLetter.Reason;
import io.fibry.Gate;
import io.fibry.Handler;
import io.fibry.Letters;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TopicTest {
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

  @Test
  void messageWithoutSubscribersIsNoDeadLetter() {
    topic.publish(1);

    assertEquals(List.of(), letters.all);
  }

  @Test
  void laterSubscriberIsToldOnlyLaterMessages() {
    topic.publish(1);
    topic.subscribeToLatest(seen::add);
    topic.publish(2);
    topic.close();

    assertEquals(List.of(2), seen);
  }

  @Test
  void anActorSubscribedTwiceGetsEachMessageTwice() {
    var desk = scope.anonymous().newActor((Object m) -> seen.add(m));
    topic.subscribe(desk);
    var second = topic.subscribe(desk);

    topic.publish(1);
    second.close();
    topic.publish(2);
    desk.close();

    assertEquals(List.of(1, 1, 2), seen);
  }

  @Test
  void actorThatClosedOneSubscriptionIsForgottenWhenItEnds() {
    var desk = scope.anonymous().newActor((Object m) -> seen.add(m));
    topic.subscribe(desk);
    topic.subscribe(desk).close();
    desk.close();

    topic.publish(1);
    letters.all.clear(); // its end may be known later
    topic.publish(2);

    assertEquals(List.of(), letters.all);
  }

  @Test
  void anActorThatHadEndedIsForgottenAtOnce() {
    var desk = scope.anonymous().newActor((Object m) -> seen.add(m));
    desk.close();

    topic.subscribe(desk);
    topic.publish(1);

    assertEquals(List.of(), letters.all);
  }

  @Promise("21.2")
  @Test
  void blockHoldsThePublisherBack() {
    var gate = new Gate();
    topic.subscribe(Mailbox.bounded(1, Overflow.BLOCK), m -> {
      gate.pass();
      seen.add(m);
    });
    topic.publish(1);
    Patience.await(gate.entered);
    topic.publish(2);

    var publisher = Patience.startFiber(() -> topic.publish(3));
    Patience.parked(publisher);
    gate.open();
    Patience.joined(publisher);
    topic.close();

    assertEquals(List.of(1, 2, 3), seen);
  }

  @Test
  void anInterruptedPublisherGoesOnAndKeepsTheFlag() {
    var gate = new Gate();
    topic.subscribe(Mailbox.bounded(1, Overflow.BLOCK), m -> gate.pass());
    topic.subscribeToLatest(seen::add);
    topic.publish(1);
    Patience.await(gate.entered);
    topic.publish(2);
    var flag = new CompletableFuture<Boolean>();
    var publisher = Patience.startFiber(() -> {
      topic.publish(3);
      flag.complete(Thread.currentThread().isInterrupted());
    });
    Patience.parked(publisher);

    publisher.interrupt();

    assertTrue(Patience.value(flag));
    assertEquals(List.of(3), letters.messages(Reason.REJECTED));
    gate.open();
    topic.close();
    assertEquals(List.of(1, 2, 3), seen);
  }

  @Test
  void publisherThatWouldWaitForeverIsToldAfterOtherSubscribers() {
    var told = new CompletableFuture<Object>();
    topic.subscribe(Mailbox.bounded(1, Overflow.BLOCK), m -> {
      if (!m.equals("first")) return;
      topic.publish("fills it");
      told.complete(assertThrows(AskCycleException.class, () -> topic.publish("one too many")));
    });
    topic.subscribeToLatest(seen::add);

    topic.publish("first");

    Patience.value(told);
    topic.close();
    assertEquals(List.of("fills it", "first", "one too many"), seen.stream().sorted().toList());
  }

  @Test
  void subscribersKeepLatestThousandMessages() {
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
    var inner = scope.openScope("inner", o -> o.withMailbox(Mailbox.bounded(1, Overflow.DROP_NEWEST)));
    var gate = new Gate();
    publishWhileBusy(Topic.open(inner.anonymous()), gate, 3);

    assertEquals(List.of(2, 3), letters.messages(Reason.DROPPED));
  }

  private static void publishWhileBusy(Topic<Object> topic, Gate gate, int messages) {
    topic.subscribeToLatest(m -> gate.pass());
    topic.publish(0);
    Patience.await(gate.entered);
    for (int i = 1; i <= messages; i++) topic.publish(i);
  }

  @Test
  void topicHasNameOfBuilderAndItsActorsAreNamedBelow() {
    var names = new CopyOnWriteArrayList<>();
    topic.subscribeToLatest(m -> names.add(Thread.currentThread().getName()));

    topic.publish(1);
    topic.close();

    assertEquals("topic", topic.name());
    assertEquals(List.of("topic/1"), names);
  }

  @Test
  void secondTopicOfSameNameIsRefusedUntilFirstEnds() {
    assertThrows(IllegalArgumentException.class, () -> Topic.open(scope.named("topic")));

    topic.subscribeToLatest(seen::add);
    topic.close();
    var second = Topic.open(scope.named("topic"));
    second.subscribeToLatest(seen::add);

    assertEquals("topic", second.name());
  }

  @Test
  void topicFoundByNamePublishesSentMessages() {
    Topic<String> found = Topic.open(scope.named("found").protocol(String.class));
    found.subscribeToLatest(seen::add);

    scope.find("found", String.class).orElseThrow().sendMessage("hello");
    Patience.eventually(() -> seen.size() == 1);

    assertEquals(List.of("hello"), seen);
  }

  @Test
  void codeAroundMessagesSeesMessagesOnly() {
    var around = new CopyOnWriteArrayList<String>();
    Topic<String> narrow = Topic.open(scope.anonymous().<String>intercept((m, next) -> {
      around.add(m.toUpperCase(java.util.Locale.ROOT));
      next.run();
    }));
    var desk = scope.anonymous().newActor((String m) -> {});
    narrow.subscribeToLatest(seen::add);
    narrow.subscribe(desk).close();
    narrow.subscribe(desk);
    desk.close();

    narrow.publish("a");
    narrow.close();

    assertEquals(List.of("a"), seen);
    assertEquals(List.of("A"), around);
    assertEquals(List.of(), letters.messages(Reason.FAILED));
  }

  @Test
  void nullIsRefusedByName() {
    Handler<Object> handler = seen::add;
    var actor = scope.anonymous().newActor(handler);

    assertEquals("builder", refused(() -> Topic.open(null)));
    assertEquals("message", refused(() -> topic.publish(null)));
    assertEquals("subscriber", refused(() -> topic.subscribe((Actor<Object>) null)));
    assertEquals("subscriber", refused(() -> topic.subscribeToLatest((Handler<Object>) null)));
    assertEquals("subscriber", refused(() -> topic.subscribe(Mailbox.unbounded(), null)));
    assertEquals("mailbox", refused(() -> topic.subscribe(null, handler)));
    assertEquals("executor", refused(() -> topic.subscribeOn((Executor) null, handler)));
    assertEquals("subscriber", refused(() -> topic.subscribeOn(actor, null)));
    assertEquals("a resource", refused(() -> topic.closeOnExit((AutoCloseable) null)));
  }

  @Test
  void endedTopicTakesNoSubscriberAndLeavesNoActor() {
    topic.close();
    var calls = new ArrayList<Runnable>();
    calls.add(() -> topic.subscribeToLatest(seen::add));
    calls.add(() -> topic.subscribe(Mailbox.unbounded(), seen::add));
    calls.add(() -> topic.subscribe(scope.anonymous().strategy(Strategy.CALLER).newActor((Object m) -> {})));
    calls.add(() -> topic.subscribeOn(Runnable::run, seen::add));

    for (var call : calls) {
      var refusal = assertThrows(IllegalStateException.class, call::run);
      assertEquals("topic 'topic' has ended and takes no subscriber; make a new one", refusal.getMessage());
    }

    Patience.eventually(() -> !scope.dump().contains("topic")); // its thread leaves a little later
  }

  @Test
  void theEndIsAlwaysTheSameFuture() {
    assertSame(topic.onExit(), topic.onExit());
    assertThrows(UnsupportedOperationException.class, () -> topic.onExit().cancel(true));
  }
}
