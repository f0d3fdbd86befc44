package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.AskTimeoutException;
import io.fibry.Request;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests the callback of {@code replyWhen}, which runs when the request of a promised answer is
 * cancelled or expires.
 */
class AbandonedRequestsTest {
  record Work() implements Request<Work, String> {}

  private static final Duration LIMIT = Duration.ofSeconds(1); // by the clock that only the test advances

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("given-up", o -> o.withScheduler(clock));
  private final CompletableFuture<String> answer = new CompletableFuture<>();
  private final CountDownLatch answerPromised = new CountDownLatch(1);
  private final CompletableFuture<Thread> callbackThread = new CompletableFuture<>();
  private final AtomicInteger callbackRuns = new AtomicInteger();
  private final Actor<Work> actor = scope.anonymous().newActor((work, context) -> {
    context.replyWhen(work, answer, () -> {
      callbackRuns.incrementAndGet();
      callbackThread.complete(Thread.currentThread());
    });
    answerPromised.countDown();
  });

  @AfterEach
  void close() {
    scope.close();
  }

  @Promise("4.10")
  @Test
  void cancelOfRequestRunsAbandonedCallbackOnce() {
    var future = actor.sendMessageReturn(new Work());
    Patience.await(answerPromised);
    assertFalse(callbackThread.isDone());

    future.cancel(false);
    future.cancel(false);

    Patience.value(callbackThread);
    answer.complete("late");
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(1, callbackRuns.get());
  }

  @Test
  void interruptOfAskRunsAbandonedCallback() throws Exception {
    var failure = new CompletableFuture<Throwable>();
    var asker = Patience.startFiber(() -> assertThrows(CancellationException.class, () -> actor.ask(new Work())),
        failure);
    Patience.await(answerPromised);

    asker.interrupt();

    Patience.value(failure);
    Patience.value(callbackThread);
  }

  @Test
  void timeoutOfAskRunsAbandonedCallback() {
    CompletableFuture<Throwable> failure =
        Patience.callOnFiber(() -> assertThrows(AskTimeoutException.class, () -> actor.ask(new Work(), LIMIT)));
    Patience.await(answerPromised);

    Patience.eventually(() -> {
      clock.advance(LIMIT);
      return failure.isDone();
    });

    Patience.value(failure);
    Patience.value(callbackThread);
  }

  @Test
  void abandonedCallbackOfTimedOutFutureRunsOnOtherThread() {
    var asker = Thread.currentThread();

    var future = actor.sendMessageReturn(new Work(), LIMIT);
    Patience.await(answerPromised);
    clock.advance(LIMIT);

    assertEquals(AskTimeoutException.class, Patience.failure(future).getClass());
    var thread = Patience.value(callbackThread);
    assertFalse(thread == asker || thread.getName().contains("timer"), thread.toString());
  }

  @Test
  void abandonedCallbackNeverRunsAfterAnswer() {
    answer.complete("there");

    var future = actor.sendMessageReturn(new Work());
    assertEquals("there", future.join());
    future.cancel(false);

    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(0, callbackRuns.get());
  }

  @Test
  void abandonedCallbackRunsWhenCancelRacesWithReplyWhen() {
    long seed = StressRuns.seed();
    System.out.println("promised answers whose askers give up: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    for (int round = 0; round < 2_000; round++) {
      int handlerSpins = random.nextInt(200);
      var handlerBegun = new CountDownLatch(1);
      var callbackRun = new CountDownLatch(1);
      var worker = scope.anonymous().<Work>newActor((work, context) -> {
        handlerBegun.countDown();
        for (int spins = handlerSpins; spins > 0; spins--) Thread.onSpinWait();
        context.replyWhen(work, new CompletableFuture<>(), callbackRun::countDown);
      });
      var future = worker.sendMessageReturn(new Work());
      Patience.await(handlerBegun);
      for (int spins = random.nextInt(200); spins > 0; spins--) Thread.onSpinWait();

      future.cancel(false);

      Patience.await(callbackRun);
    }
  }
}
