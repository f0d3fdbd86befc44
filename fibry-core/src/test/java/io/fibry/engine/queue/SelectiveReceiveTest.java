package io.fibry.engine.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.DeadLetter.Reason;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.NoReplyException;
import io.fibry.Request;
import io.fibry.mailbox.Mailbox;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests handlers that receive a later message before earlier messages. */
class SelectiveReceiveTest {
  record Get(String name) implements Request<Get, String> {}

  private static final Duration ONE_DAY = Duration.ofDays(1);

  private final RecordedLetters letters = new RecordedLetters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = Variants.scope(o -> o.withScheduler(clock).withDeadLetterListener(letters));
  private final ActorBuilder<Object> selectiveBuilder =
      scope.named("chooser").mailbox(Mailbox.unbounded().selective()).onFailure(FailurePolicy.resume().withoutLog());
  private final List<Object> received = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  /** Creates an actor that runs {@code atGate} after each gate, and records other messages. */
  private Actor<Object> actor(Handler<ActorContext<Object>> atGate) {
    return selectiveBuilder.newActor((Object m, ActorContext<Object> context) -> {
      if (m instanceof Gate gate) {
        gate.pass();
        atGate.handle(context);
      } else received.add(m);
    });
  }

  @Promise("2.4")
  @Test
  void receiveTakesNextMessageOfTypeAndKeepsOrderOfOthers() {
    var actor = actor(context -> received.add(context.receive(Integer.class, ONE_DAY)));
    var gate = Gate.occupy(actor);
    for (Object m : new Object[] {"a", 1, "b", 2}) actor.sendMessage(m);

    gate.open();
    actor.close();

    assertEquals(List.of(Optional.of(1), "a", "b", 2), received);
  }

  @Promise("2.4")
  @Test
  void receiveTakesNextMessageThatMatches() {
    var actor = actor(context -> received.add(context.receive(Integer.class, n -> n > 1, ONE_DAY)));
    var gate = Gate.occupy(actor);
    for (Object m : new Object[] {"a", 1, 2, 3}) actor.sendMessage(m);

    gate.open();
    actor.close();

    assertEquals(List.of(Optional.of(2), "a", 1, 3), received);
  }

  @Test
  void receiveWaitsForLaterMessage() {
    var actor = actor(context -> received.add(context.receive(Integer.class, ONE_DAY)));
    Gate.occupy(actor).open();

    actor.sendMessage("other");
    actor.sendMessage(7);
    Patience.eventually(() -> received.size() == 2);

    assertEquals(List.of(Optional.of(7), "other"), received);
  }

  @Test
  void receiveInsidePredicateIsRefused() {
    var actor = actor(context -> {
      received.add(assertThrows(IllegalStateException.class,
          () -> context.receive(Integer.class, n -> context.receive(Integer.class, ONE_DAY).isPresent(), ONE_DAY))
          .getMessage());
      received.add(context.receive(Integer.class, ONE_DAY));
    });
    var gate = Gate.occupy(actor);
    actor.sendMessage(1);

    gate.open();
    actor.close();

    assertEquals(List.of("the predicate of a receive called receive; let it only look at the message", Optional.of(1)),
        received);
  }

  @Test
  void receiveTakesSmallestMatchFromPriorityMailbox() {
    var actor = scope.anonymous()
        .mailbox(Mailbox.priority((Object a, Object b) -> a.toString().compareTo(b.toString())).selective())
        .newActor((Object m, ActorContext<Object> context) -> {
          if (m instanceof Gate gate) {
            gate.pass();
            received.add(context.receive(String.class, s -> !s.equals("a"), ONE_DAY));
          } else received.add(m);
        });
    var gate = Gate.occupy(actor);
    for (String m : new String[] {"c", "a", "b"}) actor.sendMessage(m);

    gate.open();
    actor.close();

    assertEquals(List.of(Optional.of("b"), "a", "c"), received);
  }

  @Test
  void receiveIsEmptyAfterItsLimit() {
    var result = new CompletableFuture<Optional<Integer>>();
    var actor = actor(context -> result.complete(context.receive(Integer.class, Duration.ofMinutes(1))));
    Gate.occupy(actor).open();

    Patience.eventually(() -> {
      clock.advance(Duration.ofMinutes(1));
      return result.isDone();
    });

    assertEquals(Optional.empty(), result.join());
  }

  @Test
  void receiveWithZeroLimitDoesNotWait() {
    var actor = actor(context -> {
      received.add(context.receive(Integer.class, Duration.ZERO));
      received.add(context.receive(Integer.class, Duration.ZERO));
    });
    var gate = Gate.occupy(actor);
    actor.sendMessage(1);

    gate.open();
    actor.close();

    assertEquals(List.of(Optional.of(1), Optional.empty()), received);
  }

  @Test
  void receiveIsEmptyWhenActorEnds() {
    var result = new CompletableFuture<Optional<Integer>>();
    var actor = actor(context -> result.complete(context.receive(Integer.class, ONE_DAY)));
    Gate.occupy(actor).open();
    actor.sendMessage("undelivered");

    actor.askExit();

    assertEquals(Optional.empty(), Patience.value(result));
    Patience.awaitEnd(actor::waitForExit);
    assertEquals(List.of("undelivered"), letters.messages(Reason.UNDELIVERED));
  }

  @Test
  void receiveThrowsCancellationWhenActorIsKilled() {
    var failure = new CompletableFuture<Throwable>();
    var interruptFlag = new CompletableFuture<Boolean>();
    var receiving = new CountDownLatch(1); // an interrupt before this moment would end the wait at the gate
    var actor = actor(context -> {
      receiving.countDown();
      failure.complete(assertThrows(Throwable.class, () -> context.receive(Integer.class, ONE_DAY)));
      interruptFlag.complete(Thread.currentThread().isInterrupted());
    });
    Gate.occupy(actor).open();
    Patience.await(receiving);

    actor.kill();

    var text = assertInstanceOf(CancellationException.class, Patience.value(failure)).getMessage();
    assertTrue(text.contains("chooser") && text.contains("interrupted"), text);
    assertTrue(Patience.value(interruptFlag));
  }

  @Test
  void throwingPredicateLosesNoMessage() {
    var actor = actor(context -> context.receive(Integer.class, n -> {
      throw new IllegalStateException("bad predicate");
    }, ONE_DAY));
    var gate = Gate.occupy(actor);
    actor.sendMessage(1);

    gate.open();
    actor.close();

    assertEquals(List.of(1), received);
    assertEquals(1, letters.messages(Reason.FAILED).size());
  }

  @Test
  void receivedRequestCanBeAnswered() {
    var actor = actor(context -> {
      var get = context.receive(Get.class, ONE_DAY).orElseThrow();
      context.reply(get, get.name() + "!");
    });
    Gate.occupy(actor).open();

    assertEquals("tea!", actor.ask(new Get("tea")));
  }

  @Promise("4.8")
  @Test
  void unansweredReceivedRequestFailsWithNoReplyException() {
    var actor = actor(context -> context.receive(Get.class, ONE_DAY));
    Gate.occupy(actor).open();

    assertThrows(NoReplyException.class, () -> actor.ask(new Get("tea")));
  }

  @Promise("8.9")
  @Test
  void receivedRequestFailsWithHandlerException() {
    var failure = new IllegalStateException("bad");
    var actor = actor(context -> {
      context.receive(Get.class, ONE_DAY);
      throw failure;
    });
    Gate.occupy(actor).open();

    assertSame(failure, assertThrows(IllegalStateException.class, () -> actor.ask(new Get("tea"))));
  }

  @Test
  void cancelledRequestIsNotReceived() {
    var actor = actor(context -> received.add(context.receive(Get.class, ONE_DAY).map(Get::name)));
    var gate = Gate.occupy(actor);
    actor.sendMessageReturn(new Get("cancelled")).cancel(false);
    actor.sendMessage(new Get("other"));

    gate.open();
    actor.close();

    assertEquals(List.of(Optional.of("other")), received);
  }

  @Test
  void receiveSkipsTasks() {
    var actor = actor(context -> received.add(context.receive(Object.class, ONE_DAY)));
    var gate = Gate.occupy(actor);
    actor.execute(() -> received.add("task"));
    actor.sendMessage("message");

    gate.open();
    actor.close();

    assertEquals(List.of(Optional.of("message"), "task"), received);
  }

  @Test
  void nonSelectiveMailboxRefusesReceiveWithHint() {
    var actor = scope.named("plain").newActorWithReturn((Object m, ActorContext<Object> context) -> {
      var texts =
          List.of(assertThrows(IllegalStateException.class, () -> context.receive(String.class, ONE_DAY)).getMessage(),
              assertThrows(IllegalStateException.class, context::stash).getMessage(),
              assertThrows(IllegalStateException.class, context::unstash).getMessage());
      return texts;
    });

    var texts = actor.ask("choose");

    for (String text : texts) for (String word : new String[] {"plain", "cannot", "Mailbox.unbounded().selective()"})
      assertTrue(text.contains(word), text);
    assertFalse(texts.isEmpty());
  }
}
