package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import io.fibry.testing.Variants.Variant;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests how actors with each strategy and mailbox handle messages. {@link ContractEndingTest} tests
 * how these actors end.
 */
class ContractTest {
  record Get(String item) implements Request<Get, String> {}

  private final RecordedLetters letters = new RecordedLetters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = Variants.scope(o -> o.withDeadLetterListener(letters).withScheduler(clock));

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  @Promise("2.1")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void actorHandlesMessagesInSendOrder(Variant variant) {
    var received = new ArrayList<Object>();
    var actor = variant.builder(scope).newActor((Object m) -> received.add(m));

    for (int i = 0; i < 50; i++) actor.sendMessage(i);
    actor.close();

    assertEquals(IntStream.range(0, 50).boxed().toList(), received);
  }

  @Promise({"1.1", "1.2"})
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void actorHandlesOneMessageAtATimeAndSeesEarlierWrites(Variant variant) {
    var activeHandlers = new AtomicInteger();
    var maxActiveHandlers = new AtomicInteger();
    var count = new int[1]; // not atomic: a race would lose increments
    var actor = variant.builder(scope).newActor((Object m) -> {
      maxActiveHandlers.accumulateAndGet(activeHandlers.incrementAndGet(), Math::max);
      count[0]++;
      activeHandlers.decrementAndGet();
    });

    var senders = IntStream.range(0, 3)
        .mapToObj(s -> Patience.startFiber(() -> IntStream.range(0, 20).forEach(actor::sendMessage))).toList();
    senders.forEach(Patience::awaitEnd);
    actor.close();

    assertEquals(1, maxActiveHandlers.get());
    assertEquals(60, count[0]);
  }

  @Promise("2.1")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void actorKeepsOrderOfEachSender(Variant variant) {
    var received = Collections.synchronizedList(new ArrayList<int[]>());
    var actor = variant.builder(scope).newActor((Object m) -> received.add((int[]) m));

    var senders = IntStream.range(0, 3)
        .mapToObj(
            s -> Patience.startFiber(() -> IntStream.range(0, 20).forEach(i -> actor.sendMessage(new int[] {s, i}))))
        .toList();
    senders.forEach(Patience::awaitEnd);
    actor.close();

    for (int s = 0; s < 3; s++) {
      int sender = s;
      assertEquals(IntStream.range(0, 20).boxed().toList(),
          received.stream().filter(m -> m[0] == sender).map(m -> m[1]).toList());
    }
  }

  @Promise("4.1")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void askReturnsHandlersAnswer(Variant variant) {
    var square = variant.builder(scope).newActorWithReturn((Object n) -> (Integer) n * (Integer) n);

    assertEquals(49, square.ask(7));
    assertEquals(64, square.ask(8, Patience.LONG));
  }

  @Promise("4.1")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void requestFutureCompletesWithAnswer(Variant variant) {
    var square = variant.builder(scope).newActorWithReturn((Object n) -> (Integer) n * (Integer) n);

    var answers = IntStream.range(0, 20).mapToObj(square::sendMessageReturn).toList();

    for (int i = 0; i < 20; i++) assertEquals(i * i, Patience.value(answers.get(i)));
  }

  @Promise("4.2")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void askThrowsHandlersExceptionEvenIfChecked(Variant variant) {
    var failure = new IOException("gone");
    var actor = variant.builder(scope).onFailure(FailurePolicy.resume().withoutLog())
        .newActorWithReturn((Object m) -> throwException(failure));

    assertSame(failure, assertThrows(IOException.class, () -> actor.ask("read")));
    assertSame(failure, Patience.failure(actor.sendMessageReturn("read")));
  }

  private static Object throwException(Exception failure) throws Exception {
    throw failure;
  }

  @Promise("4.1")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void protocolRequestsAreAnsweredByReply(Variant variant) {
    var actor = variant.builder(scope).newActor((Object m, ActorContext<Object> context) -> {
      if (m instanceof Get get) context.reply(get, get.item() + "!");
    });

    assertEquals("tea!", actor.ask(new Get("tea")));
    assertEquals("tea!", Patience.value(actor.sendMessageReturn(new Get("tea"))));
  }

  @Promise("4.1")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void promisedAnswerArrivesWhenStageCompletes(Variant variant) {
    var stage = new CompletableFuture<String>();
    var actor = variant.builder(scope).newActor((Object m, ActorContext<Object> context) -> {
      if (m instanceof Get get) context.replyWhen(get, stage);
    });
    var answer = actor.sendMessageReturn(new Get("tea"));

    actor.sendMessage("next message");
    stage.complete("later");

    assertEquals("later", Patience.value(answer));
  }

  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void handlerMaySendToItsOwnActor(Variant variant) {
    var received = new ArrayList<Object>();
    var lastHandled = new CountDownLatch(1);
    var actor = variant.builder(scope).newActor((Object m, ActorContext<Object> context) -> {
      received.add(m);
      if ((Integer) m < 30) context.self().sendMessage((Integer) m + 1);
      else lastHandled.countDown();
    });

    actor.sendMessage(0);
    Patience.await(lastHandled);

    assertEquals(IntStream.rangeClosed(0, 30).boxed().toList(), received);
  }

  @Promise("1.1")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void tasksAndMessagesRunOneAtATime(Variant variant) {
    var activeHandlers = new AtomicInteger();
    var maxActiveHandlers = new AtomicInteger();
    var remainingRuns = new CountDownLatch(20);
    Runnable task = () -> {
      maxActiveHandlers.accumulateAndGet(activeHandlers.incrementAndGet(), Math::max);
      activeHandlers.decrementAndGet();
      remainingRuns.countDown();
    };
    var actor = variant.builder(scope).newActor((Object m) -> task.run());

    var sender = Patience.startFiber(() -> IntStream.range(0, 10).forEach(actor::sendMessage));
    for (int i = 0; i < 10; i++) actor.execute(task);
    Patience.awaitEnd(sender);
    Patience.await(remainingRuns);

    assertEquals(1, maxActiveHandlers.get());
  }

  @Promise("2.2")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void messageBlockIsHandledWithoutInterleaving(Variant variant) {
    var received = Collections.synchronizedList(new ArrayList<>());
    var actor = variant.builder(scope).newActor((Object m) -> received.add(m));
    if (variant.isPriority()) {
      var refusal = assertThrows(UnsupportedOperationException.class, () -> actor.sendMessages(List.of("a", "b")));
      assertTrue(refusal.getMessage().contains("priority"), refusal.getMessage());
      return;
    }

    var sender = Patience.startFiber(() -> IntStream.range(0, 20).forEach(actor::sendMessage));
    boolean accepted = actor.sendMessages(List.of("a", "b", "c", "d"));
    Patience.awaitEnd(sender);
    actor.close();

    assertTrue(accepted);
    assertEquals(List.of("a", "b", "c", "d"), received.subList(received.indexOf("a"), received.indexOf("a") + 4));
    assertEquals(24, received.size());
  }

  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void timersSendMessagesOnceOrEachPeriod(Variant variant) {
    var received = new CopyOnWriteArrayList<Object>();
    var actor = variant.builder(scope).newActor((Object m) -> received.add(m));

    actor.sendMessageLater("later", Duration.ofMinutes(3));
    var ticks = actor.sendMessageEvery("tick", Duration.ofMinutes(2));
    for (int minute = 1; minute <= 5; minute++) {
      clock.advance(Duration.ofMinutes(1));
      int expected = List.of(0, 1, 2, 3, 3).get(minute - 1);
      Patience.eventually(() -> received.size() == expected);
    }

    assertEquals(List.of("tick", "later", "tick"), received);
    assertTrue(ticks.cancel());
  }

  @Promise("1.2")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void stateIsCreatedOnFirstMessageAndReleasedAtExit(Variant variant) {
    var log = new CopyOnWriteArrayList<String>();
    var actor = variant.builder(scope).initialState(() -> {
      log.add("made");
      return new StringBuilder();
    }).onStop(s -> log.add("left with " + s)).newActor((StringBuilder s, Object m) -> s.append(m));
    boolean noStateBeforeFirstMessage = log.isEmpty();

    actor.sendMessage("a");
    actor.sendMessage("b");
    actor.close();

    assertTrue(noStateBeforeFirstMessage);
    assertEquals(List.of("made", "left with ab"), log);
  }

  @Promise("8.3")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void rollbackRestoresStateCopyAfterFailure(Variant variant) {
    var actor = variant.builder(scope).onFailure(FailurePolicy.resume().withoutLog())
        .initialState(() -> new ArrayList<Object>()).rollback(ArrayList::new)
        .newActorWithReturn((ArrayList<Object> list, Object m) -> {
          list.add(m);
          if (m.equals("bad")) throw new IllegalStateException("half done");
          return List.copyOf(list);
        });

    actor.ask("a");
    assertThrows(IllegalStateException.class, () -> actor.ask("bad"));

    assertEquals(List.of("a", "b"), actor.ask("b"));
  }

  @Promise("10.2")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void onlyThreadsOfLibraryGetActorName(Variant variant) {
    var actor = variant.named(scope, "bearer").newActorWithReturn((Object m) -> Thread.currentThread().getName());

    String name = actor.ask("who");
    actor.close();

    if (variant.usesLibraryThreads()) assertEquals("bearer", name);
    else assertNotEquals("bearer", name);
  }

  @Promise("9.1")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void interruptLeftByHandlerIsClearedOnlyOnThreadsOfLibrary(Variant variant) {
    var gate = new Gate();
    var interruptLeaked = new CompletableFuture<Boolean>();
    var actor = variant.builder(scope).newActor((Object m) -> {
      if (m == gate) {
        gate.pass();
        Thread.currentThread().interrupt();
      } else interruptLeaked.complete(Thread.interrupted());
    });
    Patience.startFiber(() -> actor.sendMessage(gate));
    Patience.await(gate.entered);

    actor.sendMessage("next"); // is queued, so the same activation handles it
    gate.open();

    assertEquals(!variant.usesLibraryThreads(), Patience.value(interruptLeaked));
  }

  @Promise({"3.3", "8.1"})
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void failedMessageIsDeadLetterAndNextMessageIsHandled(Variant variant) {
    var handled = new CountDownLatch(1);
    var failure = new IllegalStateException("bad");
    var actor = variant.builder(scope).onFailure(FailurePolicy.resume().withoutLog()).newActor((Object m) -> {
      if (m.equals("bad")) throw failure;
      handled.countDown();
    });

    actor.sendMessage("bad");
    actor.sendMessage("good");
    Patience.await(handled);

    assertEquals(List.of("bad"), letters.messages(DeadLetter.Reason.FAILED));
    assertSame(failure, letters.all.getFirst().cause().orElseThrow());
  }

  @Promise("4.9")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void queuedRequestIsNeverHandledAfterCancel(Variant variant) {
    var received = new CopyOnWriteArrayList<Object>();
    var actor = variant.builder(scope).newActorWithReturn((Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      else received.add(m);
      return m;
    });
    var gate = Gate.occupy(actor);
    var firstRequest = actor.sendMessageReturn("first");
    var secondRequest = actor.sendMessageReturn("second");

    assertTrue(firstRequest.cancel(false));
    gate.open();

    assertEquals("second", Patience.value(secondRequest));
    assertEquals(List.of("second"), received);
  }

  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void contextThrowsAfterHandlerReturns(Variant variant) {
    var context = variant.builder(scope).newActorWithReturn((Object m, ActorContext<Object> c) -> c).ask("give");

    var refusal = assertThrows(IllegalStateException.class, context::self);

    assertTrue(refusal.getMessage().contains("until the handler returns"), refusal.getMessage());
  }

  @Promise("3.1")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void scopeReportCountsEveryMessageExactlyOnce(Variant variant) {
    var actor = variant.builder(scope).onFailure(FailurePolicy.resume().withoutLog()).newActorWithReturn((Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      if (m.equals("bad")) throw new IllegalStateException("bad");
      return m;
    });
    var gate = Gate.occupy(actor);
    actor.sendMessage("one");
    actor.sendMessageReturn("cancelled").cancel(false);
    actor.sendMessage("bad");
    actor.sendMessageReturn("bad");
    actor.execute(() -> {});
    actor.sendPoisonPill();
    actor.sendMessage("late");
    gate.open();
    Patience.awaitEnd(actor::waitForExit);

    assertEquals(3, scope.report().handled());
    assertEquals(1, scope.report().unhandled().get(DeadLetter.Reason.CANCELLED));
    assertEquals(2, scope.report().unhandled().get(DeadLetter.Reason.FAILED));
    assertEquals(1, scope.report().unhandled().get(DeadLetter.Reason.UNDELIVERED));
    assertFalse(actor.sendMessage("too late"));
  }
}
