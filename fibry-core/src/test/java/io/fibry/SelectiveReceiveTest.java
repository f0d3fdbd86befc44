package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.DeadLetter.Reason;
import io.fibry.mailbox.Mailbox;
import io.fibry.support.Patience;
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

/** Handlers that receive a later message first. */
class SelectiveReceiveTest {
  record Get(String what) implements Request<Get, String> {}

  private static final Duration FOREVER = Duration.ofDays(1);

  private final Letters letters = new Letters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = Variants.scope(o -> o.withScheduler(clock).withDeadLetters(letters));
  private final ActorBuilder<Object> selective =
      scope.named("chooser").mailbox(Mailbox.unbounded().selective()).onFailure(FailurePolicy.resume().withoutLog());
  private final List<Object> seen = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  /** Passes a gate and then runs {@code atGate}; remembers other messages. */
  private Actor<Object> actor(Handler<ActorContext<Object>> atGate) {
    return selective.newActor((Object m, ActorContext<Object> context) -> {
      if (m instanceof Gate gate) {
        gate.pass();
        atGate.handle(context);
      } else seen.add(m);
    });
  }

  @Promise("2.4")
  @Test
  void receiveTakesNextOfTypeAndKeepsOrderOfOthers() {
    var actor = actor(context -> seen.add(context.receive(Integer.class, FOREVER)));
    var gate = Gate.occupy(actor);
    for (Object m : new Object[] {"a", 1, "b", 2}) actor.sendMessage(m);

    gate.open();
    actor.close();

    assertEquals(List.of(Optional.of(1), "a", "b", 2), seen);
  }

  @Promise("2.4")
  @Test
  void receiveTakesTheNextThatFits() {
    var actor = actor(context -> seen.add(context.receive(Integer.class, n -> n > 1, FOREVER)));
    var gate = Gate.occupy(actor);
    for (Object m : new Object[] {"a", 1, 2, 3}) actor.sendMessage(m);

    gate.open();
    actor.close();

    assertEquals(List.of(Optional.of(2), "a", 1, 3), seen);
  }

  @Test
  void receiveWaitsForLaterMessage() {
    var actor = actor(context -> seen.add(context.receive(Integer.class, FOREVER)));
    Gate.occupy(actor).open();

    actor.sendMessage("other");
    actor.sendMessage(7);
    Patience.eventually(() -> seen.size() == 2);

    assertEquals(List.of(Optional.of(7), "other"), seen);
  }

  @Test
  void receiveInsidePredicateIsRefused() {
    var actor = actor(context -> {
      seen.add(assertThrows(IllegalStateException.class,
          () -> context.receive(Integer.class, n -> context.receive(Integer.class, FOREVER).isPresent(), FOREVER))
          .getMessage());
      seen.add(context.receive(Integer.class, FOREVER));
    });
    var gate = Gate.occupy(actor);
    actor.sendMessage(1);

    gate.open();
    actor.close();

    assertEquals(List.of("the predicate of a receive called receive; let it only look at the message", Optional.of(1)),
        seen);
  }

  @Test
  void receiveTakesSmallestMatchFromPriorityMailbox() {
    var actor = scope.anonymous()
        .mailbox(Mailbox.priority((Object a, Object b) -> a.toString().compareTo(b.toString())).selective())
        .newActor((Object m, ActorContext<Object> context) -> {
          if (m instanceof Gate gate) {
            gate.pass();
            seen.add(context.receive(String.class, s -> !s.equals("a"), FOREVER));
          } else seen.add(m);
        });
    var gate = Gate.occupy(actor);
    for (String m : new String[] {"c", "a", "b"}) actor.sendMessage(m);

    gate.open();
    actor.close();

    assertEquals(List.of(Optional.of("b"), "a", "c"), seen);
  }

  @Test
  void receiveIsEmptyWhenTheTimeIsOver() {
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
      seen.add(context.receive(Integer.class, Duration.ZERO));
      seen.add(context.receive(Integer.class, Duration.ZERO));
    });
    var gate = Gate.occupy(actor);
    actor.sendMessage(1);

    gate.open();
    actor.close();

    assertEquals(List.of(Optional.of(1), Optional.empty()), seen);
  }

  @Test
  void receiveIsEmptyWhenTheActorIsEnding() {
    var result = new CompletableFuture<Optional<Integer>>();
    var actor = actor(context -> result.complete(context.receive(Integer.class, FOREVER)));
    Gate.occupy(actor).open();
    actor.sendMessage("undelivered");

    actor.askExit();

    assertEquals(Optional.empty(), Patience.value(result));
    Patience.ended(actor::waitForExit);
    assertEquals(List.of("undelivered"), letters.messages(Reason.UNDELIVERED));
  }

  @Test
  void aKilledReceiveIsACancellation() {
    var result = new CompletableFuture<Throwable>();
    var flag = new CompletableFuture<Boolean>();
    var begun = new CountDownLatch(1); // an interrupt before that would hit the gate
    var actor = actor(context -> {
      begun.countDown();
      result.complete(assertThrows(Throwable.class, () -> context.receive(Integer.class, FOREVER)));
      flag.complete(Thread.currentThread().isInterrupted());
    });
    Gate.occupy(actor).open();
    Patience.await(begun);

    actor.kill();

    var text = assertInstanceOf(CancellationException.class, Patience.value(result)).getMessage();
    assertTrue(text.contains("chooser") && text.contains("interrupted"), text);
    assertTrue(Patience.value(flag));
  }

  @Test
  void throwingPredicateLosesNoMessage() {
    var actor = actor(context -> context.receive(Integer.class, n -> {
      throw new IllegalStateException("bad predicate");
    }, FOREVER));
    var gate = Gate.occupy(actor);
    actor.sendMessage(1);

    gate.open();
    actor.close();

    assertEquals(List.of(1), seen);
    assertEquals(1, letters.messages(Reason.FAILED).size());
  }

  @Test
  void aReceivedRequestIsAnsweredByIdentity() {
    var actor = actor(context -> {
      var get = context.receive(Get.class, FOREVER).orElseThrow();
      context.reply(get, get.what() + "!");
    });
    Gate.occupy(actor).open();

    assertEquals("tea!", actor.ask(new Get("tea")));
  }

  @Promise("4.8")
  @Test
  void unansweredReceivedRequestFailsWithNoReply() {
    var actor = actor(context -> context.receive(Get.class, FOREVER));
    Gate.occupy(actor).open();

    assertThrows(NoReplyException.class, () -> actor.ask(new Get("tea")));
  }

  @Promise("8.9")
  @Test
  void receivedRequestFailsWithHandlerException() {
    var failure = new IllegalStateException("bad");
    var actor = actor(context -> {
      context.receive(Get.class, FOREVER);
      throw failure;
    });
    Gate.occupy(actor).open();

    assertSame(failure, assertThrows(IllegalStateException.class, () -> actor.ask(new Get("tea"))));
  }

  @Test
  void aCancelledRequestIsNotReceived() {
    var actor = actor(context -> seen.add(context.receive(Get.class, FOREVER).map(Get::what)));
    var gate = Gate.occupy(actor);
    actor.sendMessageReturn(new Get("cancelled")).cancel(false);
    actor.sendMessage(new Get("other"));

    gate.open();
    actor.close();

    assertEquals(List.of(Optional.of("other")), seen);
  }

  @Test
  void receiveSkipsTasks() {
    var actor = actor(context -> seen.add(context.receive(Object.class, FOREVER)));
    var gate = Gate.occupy(actor);
    actor.execute(() -> seen.add("task"));
    actor.sendMessage("message");

    gate.open();
    actor.close();

    assertEquals(List.of(Optional.of("message"), "task"), seen);
  }

  @Test
  void nonSelectiveMailboxRefusesReceiveWithHint() {
    var plain = scope.named("plain").newActorWithReturn((Object m, ActorContext<Object> context) -> {
      var texts =
          List.of(assertThrows(IllegalStateException.class, () -> context.receive(String.class, FOREVER)).getMessage(),
              assertThrows(IllegalStateException.class, context::stash).getMessage(),
              assertThrows(IllegalStateException.class, context::unstash).getMessage());
      return texts;
    });

    var texts = plain.ask("choose");

    for (String text : texts) for (String word : new String[] {"plain", "cannot", "Mailbox.unbounded().selective()"})
      assertTrue(text.contains(word), text);
    assertFalse(texts.isEmpty());
  }
}
