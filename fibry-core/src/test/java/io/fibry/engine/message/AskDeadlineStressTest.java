package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.AskTimeoutException;
import io.fibry.Request;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Promise;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that the limit of a request begins before the request is sent. */
class AskDeadlineStressTest {
  private static final int ROUNDS = Soak.ON ? 100_000 : 1_000;
  private static final Duration LIMIT = Duration.ofSeconds(1);

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("deadlines", o -> o.withScheduler(clock));

  private record Question(CountDownLatch handled) implements Request<Question, String> {}

  @AfterEach
  void close() {
    scope.closeWithin(Duration.ZERO);
  }

  /**
   * Once the request is being handled, one advance of the clock by the limit must time the request
   * out.
   */
  @Promise("4.6")
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void clockAdvanceByLimitTimesOutRequestBeingHandled(boolean usesAsk) {
    var actor = scope.named("silent").newActor((Question question, ActorContext<Question> context) -> {
      context.replyWhen(question, new CompletableFuture<>());
      question.handled.countDown();
    });
    for (int i = 0; i < ROUNDS; i++) {
      var question = new Question(new CountDownLatch(1));
      var outcome = new CompletableFuture<Throwable>();
      Patience.startFiber(() -> {
        try {
          if (usesAsk) actor.ask(question, LIMIT);
          else actor.sendMessageReturn(question, LIMIT).join();
          outcome.complete(new AssertionError("answered"));
        } catch (Throwable failure) {
          outcome.complete(failure instanceof CompletionException ? failure.getCause() : failure);
        }
      });
      Patience.await(question.handled);
      clock.advance(LIMIT);

      assertInstanceOf(AskTimeoutException.class, Patience.value(outcome));
    }
  }
}
