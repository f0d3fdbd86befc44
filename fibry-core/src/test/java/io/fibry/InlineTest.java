package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Patience;
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

/** Requests that run on the asker's thread. */
class InlineTest {
  record Get() implements Request<Get, String> {}

  private final Letters letters = new Letters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = Variants.scope(o -> o.withScheduler(clock).withDeadLetters(letters));
  private final ActorBuilder<Object> inline =
      scope.named("inline").onFailure(FailurePolicy.resume().withoutLog()).inlineRequests();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  private ActorWithReturn<Object, Object> threadActor(ActorBuilder<Object> builder) {
    return builder.newActorWithReturn((Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      return Thread.currentThread();
    });
  }

  private static <T> T onVirtualThread(Callable<T> code) {
    var result = new CompletableFuture<T>();
    Thread.startVirtualThread(() -> {
      try {
        result.complete(code.call());
      } catch (Throwable failure) {
        result.completeExceptionally(failure);
      }
    });
    return Patience.value(result);
  }

  @Promise("6.9")
  @Test
  void anIdleActorRunsOnTheAskersVirtualThread() {
    var actor = threadActor(inline);

    assertTrue(onVirtualThread(() -> actor.ask("who") == Thread.currentThread()));
    assertFalse(onVirtualThread(() -> Thread.currentThread().getName().equals("inline")));
  }

  /** The handler works for as long as the limit, so no time is left to wait for its promise. */
  @Promise("6.9")
  @Test
  void limitOfPromisedAnswerCountsHandlersOwnTime() {
    var limit = Duration.ofHours(1);
    var limited = scope.openScope("limited", o -> o.withAskLimit(limit));
    var actor = limited.anonymous().inlineRequests().newActor((Get request, ActorContext<Get> context) -> {
      clock.advance(limit);
      context.replyWhen(request, new CompletableFuture<>());
    });

    var late = onVirtualThread(() -> assertThrows(AskTimeoutException.class, () -> actor.ask(new Get())));

    assertEquals(limit, late.waited());
  }

  /** Whose limit is over looks for an actor that got no thread. This one has its asker's. */
  @Test
  void expiredAskGivesInlineActorNoSecondThread() {
    var handled = new CopyOnWriteArrayList<Object>();
    var actor = ActorSystem.anonymous().inlineRequests().newActorWithReturn((Object m) -> {
      if (m instanceof Gate gate) gate.passDeaf();
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
    Patience.joined(asker);
    Patience.eventually(() -> handled.equals(List.of(gate, "waits")));
  }

  @Promise("6.9")
  @Test
  void platformThreadNeverRunsInlineActor() {
    var actor = threadActor(inline);

    assertNotEquals(Thread.currentThread(), actor.ask("who"));
  }

  @Promise("6.9")
  @Test
  void requestWithOwnLimitIsNeverInline() {
    var actor = threadActor(inline);

    assertFalse(onVirtualThread(() -> actor.ask("who", Patience.LONG) == Thread.currentThread()));
  }

  @Test
  void requestIsNotInlineWithoutOption() {
    var actor = threadActor(scope.anonymous());

    assertFalse(onVirtualThread(() -> actor.ask("who") == Thread.currentThread()));
  }

  @Promise("6.9")
  @Test
  void aBusyActorAnswersOnAThreadOfItsOwn() {
    var actor = threadActor(inline);
    var gate = Gate.occupy(actor);
    var result = new CompletableFuture<Boolean>();
    Patience.parked(Patience.startFiber(() -> result.complete(actor.ask("who") == Thread.currentThread())));

    gate.open();

    assertFalse(Patience.value(result));
  }

  @Promise("6.9")
  @Test
  void inlineAskThrowsHandlersException() {
    var failure = new IOException("gone");
    var actor = inline.newActorWithReturn((Object m) -> {
      throw failure;
    });

    assertSame(failure, onVirtualThread(() -> assertThrows(IOException.class, () -> actor.ask("read"))));
    assertEquals(1, scope.report().unhandled().get(DeadLetter.Reason.FAILED));
  }

  @Test
  void inlineAskHandlesReplyPromiseAndMissingAnswer() {
    var stage = new CompletableFuture<String>();
    var actor = inline.newActor((Object m, ActorContext<Object> context) -> {
      var get = (Get) m;
      if (stage.isDone()) context.reply(get, "replied");
      else context.replyWhen(get, stage);
    });
    var mute = scope.anonymous().inlineRequests().newActor((Object m) -> {});
    var promised = new CompletableFuture<String>();
    Patience.parked(Patience.startFiber(() -> promised.complete(actor.ask(new Get()))));

    stage.complete("promised");

    assertEquals("promised", Patience.value(promised));
    assertEquals("replied", onVirtualThread(() -> actor.ask(new Get())));
    onVirtualThread(() -> assertThrows(NoReplyException.class, () -> mute.ask(new Get())));
  }

  @Test
  void promisedAnswerTimesOutAtScopeLimit() {
    var actor = inline
        .newActor((Object m, ActorContext<Object> context) -> context.replyWhen((Get) m, new CompletableFuture<>()));
    var failure = new CompletableFuture<Throwable>();
    Patience
        .parked(Patience.startFiber(() -> failure.complete(assertThrows(Throwable.class, () -> actor.ask(new Get())))));

    Patience.eventually(() -> {
      clock.advance(Duration.ofSeconds(30));
      return failure.isDone();
    });

    assertInstanceOf(AskTimeoutException.class, failure.join());
  }

  @Promise("6.9")
  @Test
  void messagesDuringInlineAskRunOnActorsOwnThread() {
    var others = new CopyOnWriteArrayList<Thread>();
    var actor = inline.newActorWithReturn((Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      else others.add(Thread.currentThread());
      return Thread.currentThread();
    });
    var gate = new Gate();
    var asker = new CompletableFuture<Object>();
    Patience.startFiber(() -> asker.complete(actor.ask(gate)));
    Patience.await(gate.entered);
    for (int i = 0; i < 3; i++) actor.sendMessage(i);

    gate.open();
    Patience.eventually(() -> others.size() == 3);

    assertFalse(others.contains(Patience.value(asker)));
  }

  @Test
  void inlineAskerDoesNotRunHooksOfEndingActor() {
    var hook = new Gate();
    var actor = threadActor(inline).closeOnExit(hook::pass);
    var gate = new Gate();
    var answer = new CompletableFuture<Object>();
    Patience.startFiber(() -> answer.complete(actor.ask(gate)));
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
      int mine = i;
      chain.add(scope.anonymous().inlineRequests().newActorWithReturn((Object m) -> {
        threads.add(Thread.currentThread());
        return mine + 1 == 100 ? "deep" : chain.get(mine + 1).ask(m);
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
    var both = new ArrayList<ActorWithReturn<Object, Object>>();
    for (int i = 0; i < 2; i++) {
      int other = 1 - i;
      both.add(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).inlineRequests()
          .newActorWithReturn((Object m) -> both.get(other).ask(m)));
    }

    onVirtualThread(() -> assertThrows(AskCycleException.class, () -> both.getFirst().ask("round")));
  }

  @Promise("9.1")
  @Test
  void inlineHandlerSeesAndKeepsAskersInterrupt() {
    var actor = inline.newActorWithReturn((Object m) -> Thread.currentThread().isInterrupted());

    var seen = onVirtualThread(() -> {
      Thread.currentThread().interrupt();
      return List.of(actor.ask("?"), Thread.interrupted());
    });

    assertEquals(List.of(true, true), seen);
  }

  @Test
  void sinkAnswersInline() {
    Sink<StringBuilder> sink = inline.initialState(StringBuilder::new).newSink();

    assertTrue(onVirtualThread(() -> sink.ask(s -> Thread.currentThread()) == Thread.currentThread()));
  }

  @Test
  void idleActorWithAnyMailboxAnswersInline() {
    for (var mailbox : Variants.MAILBOXES.values()) {
      var actor = threadActor(scope.anonymous().mailbox(mailbox).inlineRequests());

      assertTrue(onVirtualThread(() -> actor.ask("who") == Thread.currentThread()));
      actor.close();
    }
  }

  @Test
  void anEndedActorIsNotRunInline() {
    var actor = threadActor(inline);
    actor.close();

    onVirtualThread(() -> assertThrows(ActorStoppedException.class, () -> actor.ask("who")));
    assertEquals(1, scope.report().unhandled().get(DeadLetter.Reason.UNDELIVERED));
  }

  @Test
  void theHandlerSeesTheLimitOfTheScope() throws Exception {
    var actor = inline.newActorWithReturn((Object m, ActorContext<Object> context) -> {
      boolean early = context.isCancelled();
      clock.advance(Duration.ofSeconds(30));
      return early + " " + context.isCancelled();
    });

    Object seen = onVirtualThread(() -> actor.ask("look"));

    assertEquals("false true", seen);
  }
}
