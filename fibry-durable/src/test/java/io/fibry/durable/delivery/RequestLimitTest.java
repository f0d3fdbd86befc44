package io.fibry.durable.delivery;

import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.fibry.Request;
import io.fibry.support.Patience;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestLimitTest {
  private record Question() implements Request<Question, String> {}

  /** A future that gets its answer while the courier registers a callback. */
  private static final class RacingAnswer extends CompletableFuture<String> {
    @Override
    public CompletableFuture<String> whenComplete(BiConsumer<? super String, ? super Throwable> callback) {
      complete("answer");
      return super.whenComplete(callback);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void callbackOfAskerRunsOnOtherThreadWhenAnswerIsImmediate(boolean isAnsweredBefore) {
    var limit = RequestLimit.start(Scheduler.system(), Duration.ofDays(1));
    var answer = new CompletableFuture<String>();
    var askerThread = answer.thenApply(text -> Thread.currentThread());

    limit.send(new Question(), time -> isAnsweredBefore ? CompletableFuture.completedFuture("answer")
        : new RacingAnswer(), answer);

    assertNotSame(Thread.currentThread(), Patience.value(askerThread));
  }

  @Test
  void askerGetsErrorThrownWhileSendingRequest() {
    var error = new StackOverflowError();
    var answer = new CompletableFuture<String>();

    RequestLimit.NONE.send(new Question(), time -> {
      throw error;
    }, answer);

    assertSame(error, Patience.failure(answer));
  }
}
