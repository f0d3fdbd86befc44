package io.fibry.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.AskTimeoutException;
import io.fibry.Request;
import io.fibry.support.Patience;
import io.fibry.testing.Recorder;
import io.fibry.time.ManualScheduler;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EncodedAskTest {
  private record Question(String text) implements Request<Question, String> {}

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("encoded-ask-test");
  private final List<String> events = new CopyOnWriteArrayList<>(); // of one ask
  private final CountDownLatch isBegun = new CountDownLatch(1);
  private final CountDownLatch isEncoding = new CountDownLatch(1);
  private final CountDownLatch mayEncode = new CountDownLatch(1);
  private final Actor<Question> actor = scope.anonymous().newActor(this::handle);
  private final CompletableFuture<String> promise = new CompletableFuture<>();

  @AfterEach
  void close() {
    mayEncode.countDown();
    scope.close();
  }

  private void handle(Question question, ActorContext<Question> context) {
    isBegun.countDown();
    switch (question.text) {
      case "fail" -> throw new IllegalStateException("no money");
      case "promise" -> context.replyWhen(question, promise);
      case "askers" -> context.reply(question, AskChain.current().toString());
      default -> {
        context.reply(question, question.text);
        events.add("handled");
      }
    }
  }

  private class Recorded implements EncodedAsk {
    @Override
    public Scheduler clock() {
      return clock;
    }

    @Override
    public Duration limit() {
      return Duration.ofSeconds(5);
    }

    @Override
    public List<String> askers() {
      return List.of("asker", "actor");
    }

    @Override
    public boolean beginSend() {
      return true;
    }

    @Override
    public void onSent() {
      events.add("sent");
    }

    @Override
    public Object encode(Object answer) {
      switch (answer.toString()) {
        case "bug" -> throw new AssertionError("a bug of the encoding");
        case "endless" -> throw new StackOverflowError("a recursive answer");
        case "large" -> throw new OutOfMemoryError("a large answer");
        case "slow" -> {
          isEncoding.countDown();
          Patience.await(mayEncode);
        }
        default -> {}
      }
      events.add("encoded");
      return "<" + answer + ">";
    }

    @Override
    public Object encodeFailure(Throwable failure) {
      return failure;
    }
  }

  private final class RefusedAsk extends Recorded {
    @Override
    public boolean beginSend() {
      return false;
    }
  }

  private Object ask(String text) {
    return ((PromptReceiver) actor).askEncoded(new Question(text), new Recorded());
  }

  @Test
  void answerIsEncodedBeforeHandlerContinues() {
    actor.execute(() -> Patience.eventually(() -> events.contains("sent")));

    assertEquals("<text>", ask("text"));
    assertEquals(List.of("sent", "encoded", "handled"), Patience.value(actorEvents()));
  }

  @Test
  void requestIsNotSentIfAskDoesNotPermitIt() {
    var ask = new RefusedAsk();

    assertSame(ask, ((PromptReceiver) actor).askEncoded(new Question("text"), ask));
    assertEquals(List.of(), Patience.value(actorEvents()));
  }

  private CompletableFuture<List<String>> actorEvents() {
    var result = new CompletableFuture<List<String>>();
    actor.execute(() -> result.complete(List.copyOf(events)));
    return result;
  }

  @Test
  void handlerSeesAskers() {
    assertEquals("<[asker, actor]>", ask("askers"));
  }

  @Test
  void failuresOfHandlerAndOfEncodingAreResults() {
    assertEquals("java.lang.IllegalStateException: no money", ask("fail").toString());
    assertEquals("java.lang.AssertionError: a bug of the encoding", ask("bug").toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"endless", "large"})
  void answerThatCannotBeEncodedDoesNotFailActor(String answer) {
    assertTrue(ask(answer).toString().contains("answer"));

    assertEquals("<text>", ask("text"));
    assertEquals(2, Patience.value(actorEvents()).stream().filter("handled"::equals).count());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void limitPassesWhileAnswerIsEncoded(boolean isPromised) {
    var outcome = Patience.callOnFiber(() -> ask(isPromised ? "promise" : "slow"));
    if (isPromised) completePromise("slow");
    Patience.await(isEncoding);

    clock.advance(Duration.ofSeconds(5));

    assertSame(AskTimeoutException.class, Patience.failure(outcome).getClass());
    mayEncode.countDown();
    assertEquals("<text>", ask("text"));
  }

  /** Completes the promise on another thread, after the handler has returned. */
  private void completePromise(String answer) {
    Patience.await(isBegun);
    Patience.value(actorEvents());
    Patience.startFiber(() -> promise.complete(answer));
  }

  @Test
  void interruptCancelsRequestWhileAnswerIsEncoded() {
    var outcome = new CompletableFuture<CancellationException>();
    var asker = Patience.startFiber(() -> assertThrows(CancellationException.class, () -> ask("slow")), outcome);
    Patience.await(isEncoding);
    Patience.awaitParked(asker);

    asker.interrupt();

    assertTrue(Patience.value(outcome).getMessage().startsWith("interrupted while waiting"));
  }

  @Test
  void killFailsPromisedRequestWhileAnswerIsEncoded() {
    var outcome = Patience.callOnFiber(() -> ask("promise"));
    completePromise("slow");
    Patience.await(isEncoding);

    Patience.awaitEnd(Patience.startFiber(actor::kill));

    Patience.awaitEnd(actor::waitForExit);
    assertTrue(Patience.value(outcome).toString().contains("ended (Killed)"));
  }

  @Test
  void eventNamesFailureThatIsResult() {
    Recorder.assumePresent();
    try (var recorder = Recorder.of("fibry.AskWait")) {
      ask("text");
      ask("fail");
      ask("bug");

      assertEquals(List.of("answered", IllegalStateException.class.getName(), AssertionError.class.getName()),
          recorder.events(actor.name()).stream().map(event -> event.getString("outcome")).toList());
    }
  }

  @Test
  void requestThatIsNotSentHasNoEvent() {
    Recorder.assumePresent();
    try (var recorder = Recorder.of("fibry.AskWait")) {
      ((PromptReceiver) actor).askEncoded(new Question("text"), new RefusedAsk());
      ask("text");

      assertEquals(1, recorder.events(actor.name()).size());
    }
  }

  @Test
  void endedActorFailsRequest() {
    actor.close();

    assertTrue(ask("text").toString().contains("ended (Finished)"));
  }

  @Test
  void limitIsMeasuredByGivenClock() {
    var outcome = Patience.callOnFiber(() -> ask("promise"));
    Patience.await(isBegun);
    Patience.eventually(() -> clock.untilNext().isPresent());

    clock.advance(Duration.ofSeconds(5));

    assertSame(AskTimeoutException.class, Patience.failure(outcome).getClass());
  }

  @Test
  void promisedAnswerIsEncoded() {
    var outcome = Patience.callOnFiber(() -> ask("promise"));
    Patience.await(isBegun);

    promise.complete("later");

    assertEquals("<later>", Patience.value(outcome));
  }

  @Test
  void interruptCancelsRequest() {
    var outcome = new CompletableFuture<CancellationException>();
    var asker = Patience.startFiber(() -> assertThrows(CancellationException.class, () -> ask("promise")), outcome);
    Patience.await(isBegun);
    Patience.awaitParked(asker);

    asker.interrupt();

    assertTrue(Patience.value(outcome).getMessage().startsWith("interrupted while waiting"));
  }

  @Test
  void actorIsIdleUnlessMessageWaitsOrIsHandled() {
    var mayEnd = new CountDownLatch(1);
    var receiver = (PromptReceiver) actor;
    assertTrue(receiver.isIdle());

    actor.execute(() -> Patience.await(mayEnd));
    assertFalse(receiver.isIdle());
    mayEnd.countDown();

    Patience.eventually(receiver::isIdle);
    assertThrows(IllegalArgumentException.class, () -> receiver.askEncoded(new Question(""), new Recorded() {
      @Override
      public Duration limit() {
        return Duration.ofSeconds(-1);
      }
    }));
  }
}
