package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.AskCycleException;
import io.fibry.AskTimeoutException;
import io.fibry.DeadLetter;
import io.fibry.FailurePolicy;
import io.fibry.NoReplyException;
import io.fibry.Request;
import io.fibry.Sink;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests requests whose handler runs on the thread of the asker. */
class InlineTest {
  record Get() implements Request<Get, String> {}

  private final RecordedLetters letters = new RecordedLetters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = Variants.scope(o -> o.withScheduler(clock).withDeadLetterListener(letters));
  private final ActorBuilder<Object> inlineBuilder =
      scope.named("inline").onFailure(FailurePolicy.resume().withoutLog()).inlineRequests();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  private ActorWithReturn<Object, Object> threadReturningActor(ActorBuilder<Object> builder) {
    return builder.newActorWithReturn((Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      return Thread.currentThread();
    });
  }

  private static <T> T onVirtualThread(Callable<T> code) {
    return Patience.value(Patience.callOnFiber(code));
  }

  @Promise("6.9")
  @Test
  void idleActorHandlesRequestOnAskersVirtualThread() {
    var actor = threadReturningActor(inlineBuilder);

    assertTrue(onVirtualThread(() -> actor.ask("who") == Thread.currentThread()));
    assertFalse(onVirtualThread(() -> {
      actor.ask("who"); // the thread has the actor's name only during this request
      return Thread.currentThread().getName().equals("inline");
    }));
  }

  /** The handler uses up the limit, so no time remains to wait for the promised answer. */
  @Promise("6.9")
  @Test
  void askLimitIncludesTimeOfInlineHandlerThatPromisesAnswer() {
    var limit = Duration.ofHours(1);
    var limitedScope = scope.openScope("limited", o -> o.withAskLimit(limit));
    var actor = limitedScope.anonymous().inlineRequests().newActor((Get request, ActorContext<Get> context) -> {
      clock.advance(limit);
      context.replyWhen(request, new CompletableFuture<>());
    });

    var timeout = onVirtualThread(() -> assertThrows(AskTimeoutException.class, () -> actor.ask(new Get())));

    assertEquals(limit, timeout.limit());
  }

  /**
   * An asker whose limit has expired starts a thread for the actor if no thread seems to run it.
   * This actor runs on the thread of another asker, so it must get no second thread.
   */
  @Test
  void expiredAskStartsNoSecondThreadForInlineActor() {
    var handled = new CopyOnWriteArrayList<Object>();
    var actor = ActorSystem.anonymous().inlineRequests().newActorWithReturn((Object m) -> {
      if (m instanceof Gate gate) gate.passUninterruptibly();
      handled.add(m);
      return m;
    });
    var gate = new Gate();
    var asker = Patience.startFiber(() -> actor.ask(gate));
    Patience.await(gate.entered);
    actor.sendMessage("waits");

    for (int i = 0; i < 20; i++)
      assertThrows(AskTimeoutException.class, () -> actor.ask("too long", Duration.ofMillis(2)));

    assertEquals(List.of(), handled);
    gate.open();
    Patience.awaitEnd(asker);
    Patience.eventually(() -> handled.equals(List.of(gate, "waits")));
  }

  @Promise("6.9")
  @Test
  void askerOnPlatformThreadNeverRunsHandlerInline() {
    var actor = threadReturningActor(inlineBuilder);

    assertNotEquals(Thread.currentThread(), actor.ask("who"));
  }

  @Promise("6.9")
  @Test
  void requestWithExplicitLimitNeverRunsOnAskersThread() {
    var actor = threadReturningActor(inlineBuilder);

    assertFalse(onVirtualThread(() -> actor.ask("who", Patience.LONG) == Thread.currentThread()));
  }

  @Test
  void requestIsNotInlineUnlessBuilderSetsInlineRequests() {
    var actor = threadReturningActor(scope.anonymous());

    assertFalse(onVirtualThread(() -> actor.ask("who") == Thread.currentThread()));
  }

  @Promise("6.9")
  @Test
  void busyActorAnswersOnItsOwnThread() {
    var actor = threadReturningActor(inlineBuilder);
    var gate = Gate.occupy(actor);
    var result = new CompletableFuture<Boolean>();
    Patience.awaitParked(Patience.startFiber(() -> actor.ask("who") == Thread.currentThread(), result));

    gate.open();

    assertFalse(Patience.value(result));
  }

  @Promise("6.9")
  @Test
  void inlineAskThrowsHandlersException() {
    var failure = new IOException("gone");
    var actor = inlineBuilder.newActorWithReturn((Object m) -> {
      throw failure;
    });

    assertSame(failure, onVirtualThread(() -> assertThrows(IOException.class, () -> actor.ask("read"))));
    assertEquals(1, scope.report().unhandled().get(DeadLetter.Reason.FAILED));
  }

  @Test
  void inlineAskReturnsReplyOrThrowsNoReplyException() {
    var stage = new CompletableFuture<String>();
    var actor = inlineBuilder.newActor((Object m, ActorContext<Object> context) -> {
      var get = (Get) m;
      if (stage.isDone()) context.reply(get, "replied");
      else context.replyWhen(get, stage);
    });
    var silentActor = scope.anonymous().inlineRequests().newActor((Object m) -> {});
    var promisedAnswer = new CompletableFuture<String>();
    Patience.awaitParked(Patience.startFiber(() -> actor.ask(new Get()), promisedAnswer));

    stage.complete("promised");

    assertEquals("promised", Patience.value(promisedAnswer));
    assertEquals("replied", onVirtualThread(() -> actor.ask(new Get())));
    onVirtualThread(() -> assertThrows(NoReplyException.class, () -> silentActor.ask(new Get())));
  }

  @Test
  void inlineAskForPromisedAnswerTimesOutAtScopeLimit() {
    var actor = inlineBuilder
        .newActor((Object m, ActorContext<Object> context) -> context.replyWhen((Get) m, new CompletableFuture<>()));
    var failure = new CompletableFuture<Throwable>();
    Patience.awaitParked(Patience.startFiber(() -> assertThrows(Throwable.class, () -> actor.ask(new Get())), failure));

    Patience.eventually(() -> {
      clock.advance(Duration.ofSeconds(30));
      return failure.isDone();
    });

    assertInstanceOf(AskTimeoutException.class, Patience.value(failure));
  }

  @Promise("6.9")
  @Test
  void messagesSentDuringInlineAskRunOnOtherThread() {
    var messageThreads = new CopyOnWriteArrayList<Thread>();
    var actor = inlineBuilder.newActorWithReturn((Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      else messageThreads.add(Thread.currentThread());
      return Thread.currentThread();
    });
    var gate = new Gate();
    CompletableFuture<Object> askThread = Patience.callOnFiber(() -> actor.ask(gate));
    Patience.await(gate.entered);
    for (int i = 0; i < 3; i++) actor.sendMessage(i);

    gate.open();
    Patience.eventually(() -> messageThreads.size() == 3);

    assertFalse(messageThreads.contains(Patience.value(askThread)));
  }

  @Test
  void inlineAskerDoesNotRunHooksOfEndingActor() {
    var hook = new Gate();
    var actor = threadReturningActor(inlineBuilder).closeOnExit(hook::pass);
    var gate = new Gate();
    CompletableFuture<Object> answer = Patience.callOnFiber(() -> actor.ask(gate));
    Patience.await(gate.entered);

    actor.askExit();
    gate.open();

    assertInstanceOf(Thread.class, Patience.value(answer));
    Patience.await(hook.entered);
  }

  @Promise("6.9")
  @Test
  void inlineAsksNestAtMost32Deep() {
    var threads = new ArrayList<Thread>();
    var chain = new ArrayList<ActorWithReturn<Object, Object>>();
    for (int i = 0; i < 100; i++) {
      int index = i;
      chain.add(scope.anonymous().inlineRequests().newActorWithReturn((Object m) -> {
        threads.add(Thread.currentThread());
        return index + 1 == 100 ? "deep" : chain.get(index + 1).ask(m);
      }));
    }

    assertEquals("deep", onVirtualThread(() -> chain.getFirst().ask("go")));

    assertEquals(1, threads.subList(0, 32).stream().distinct().count());
    assertNotEquals(threads.get(31), threads.get(33));
    assertTrue(threads.stream().distinct().count() <= 4, () -> threads.stream().distinct().count() + " threads");
  }

  @Promise("4.7")
  @Test
  void cycleThroughInlineRequestsIsDetected() {
    var actors = new ArrayList<ActorWithReturn<Object, Object>>();
    for (int i = 0; i < 2; i++) {
      int otherIndex = 1 - i;
      actors.add(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).inlineRequests()
          .newActorWithReturn((Object m) -> actors.get(otherIndex).ask(m)));
    }

    onVirtualThread(() -> assertThrows(AskCycleException.class, () -> actors.getFirst().ask("first")));
  }

  @Promise("9.1")
  @Test
  void inlineHandlerSeesAndKeepsInterruptFlagOfAsker() {
    var actor = inlineBuilder.newActorWithReturn((Object m) -> Thread.currentThread().isInterrupted());

    var interruptFlags = onVirtualThread(() -> {
      Thread.currentThread().interrupt();
      return List.of(actor.ask("?"), Thread.interrupted());
    });

    assertEquals(List.of(true, true), interruptFlags);
  }

  @Test
  void sinkWithInlineRequestsAnswersOnAskersThread() {
    Sink<StringBuilder> sink = inlineBuilder.initialState(StringBuilder::new).newSink();

    assertTrue(onVirtualThread(() -> sink.ask(s -> Thread.currentThread()) == Thread.currentThread()));
  }

  @Test
  void idleActorWithAnyMailboxAnswersInline() {
    for (var mailbox : Variants.MAILBOXES.values()) {
      var actor = threadReturningActor(scope.anonymous().mailbox(mailbox).inlineRequests());

      assertTrue(onVirtualThread(() -> actor.ask("who") == Thread.currentThread()));
      actor.close();
    }
  }

  @Test
  void inlineAskOfEndedActorThrowsStoppedException() {
    var actor = threadReturningActor(inlineBuilder);
    actor.close();

    onVirtualThread(() -> assertThrows(ActorStoppedException.class, () -> actor.ask("who")));
    assertEquals(1, scope.report().unhandled().get(DeadLetter.Reason.UNDELIVERED));
  }

  @Test
  void inlineHandlerFindsRequestCancelledAfterAskLimitOfScope() throws Exception {
    var actor = inlineBuilder.newActorWithReturn((Object m, ActorContext<Object> context) -> {
      boolean cancelledBeforeLimit = context.isCancelled();
      clock.advance(Duration.ofSeconds(30));
      return cancelledBeforeLimit + " " + context.isCancelled();
    });

    Object cancelFlags = onVirtualThread(() -> actor.ask("check"));

    assertEquals("false true", cancelFlags);
  }
}
