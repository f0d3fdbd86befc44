package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.FailurePolicy;
import io.fibry.TextContextPropagator;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import io.fibry.testing.Variants.Variant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that a context propagator learns how the handling of a message ends. */
class HandlingOutcomeTest {
  private static final FailurePolicy RESUME = FailurePolicy.resume().withoutLog();

  /** Records its calls. Its context is the constant "c". */
  private static class OutcomePropagator implements TextContextPropagator<String> {
    final List<String> calls = new CopyOnWriteArrayList<>();
    volatile Consumer<Throwable> atFailure = failure -> {};

    @Override
    public String capture() {
      return "c";
    }

    @Override
    public AutoCloseable restore(String captured) {
      throw new AssertionError("Fibry must call restore(captured, actor, message)");
    }

    @Override
    public AutoCloseable restore(String captured, Actor<?> actor, Object message) {
      calls.add("handle " + message);
      return new Handling() {
        @Override
        public void failed(Throwable failure) {
          calls.add("failed " + failure.getMessage());
          atFailure.accept(failure);
        }

        @Override
        public void close() {
          calls.add("close");
        }
      };
    }

    @Override
    public Map<String, String> write(String captured) {
      return Map.of("c", captured);
    }

    @Override
    public String read(Map<String, String> texts) {
      return texts.get("c");
    }
  }

  private final OutcomePropagator propagator = new OutcomePropagator();
  private final ActorScope scope = Variants.scope(options -> options.withContextPropagator(propagator));

  private static void handle(Object message) {
    if (!message.equals("good")) throw new IllegalStateException("at " + message);
  }

  @Promise("14.12")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void propagatorLearnsFailureOfHandler(Variant variant) {
    var actor = variant.builder(scope).onFailure(RESUME).newActor(HandlingOutcomeTest::handle);

    actor.sendMessage("good");
    Patience.eventually(() -> propagator.calls.size() == 2);
    actor.sendMessage("bad");
    actor.close();

    assertEquals(List.of("handle good", "close", "handle bad", "failed at bad", "close"), propagator.calls);
  }

  @Promise("14.12")
  @Test
  void propagatorLearnsFailureOfRequestAndTask() {
    var actor = scope.anonymous().onFailure(RESUME).newActorWithReturn((Object message) -> {
      handle(message);
      return message;
    });
    Runnable task = () -> {
      throw new IllegalStateException("at the task");
    };

    assertThrows(IllegalStateException.class, () -> actor.ask("asked"));
    actor.execute(task);
    actor.close();

    assertEquals(List.of("handle asked", "failed at asked", "close", "handle " + task, "failed at the task", "close"),
        propagator.calls);
  }

  @Promise("14.12")
  @Test
  void propagatorLearnsLastFailureAfterRetries() {
    var attempts = new CopyOnWriteArrayList<Object>();
    var actor = scope.anonymous().onFailure(RESUME.withRetries(2)).newActor((String message) -> {
      attempts.add(message);
      if (message.equals("bad") || attempts.size() == 1) throw new IllegalStateException("attempt " + attempts.size());
    });

    actor.sendMessage("recovers");
    actor.sendMessage("bad");
    actor.close();

    assertEquals(List.of("handle recovers", "close", "handle bad", "failed attempt 5", "close"), propagator.calls);
  }

  @Promise("14.12")
  @Test
  void redeliveryIsHandlingOfItsOwn() {
    var attempts = new CopyOnWriteArrayList<Object>();
    var actor = scope.anonymous().onFailure(RESUME.withRedelivery(1)).newActor((String message) -> {
      attempts.add(message);
      if (attempts.size() == 1) throw new IllegalStateException("at first");
    });

    actor.sendMessage("m");
    actor.close();

    assertEquals(List.of("handle m", "failed at first", "close", "handle m", "close"), propagator.calls);
  }

  @Promise("14.12")
  @Test
  void failureThatStopsActorIsReported() {
    var actor = scope.anonymous().onFailure(FailurePolicy.stop().withoutLog()).newActor(HandlingOutcomeTest::handle);

    actor.sendMessage("bad");
    Patience.awaitEnd(actor::waitForExit);

    assertEquals(List.of("handle bad", "failed at bad", "close"), propagator.calls);
  }

  @Promise("14.6")
  @Test
  void propagatorThatThrowsAtFailureIsLogged() {
    var outer = new OutcomePropagator();
    propagator.atFailure = failure -> {
      throw new IllegalStateException("broken propagator");
    };
    var twoScope =
        Variants.scope(options -> options.withContextPropagator(outer).withContextPropagator(propagator));
    var actor = twoScope.anonymous().onFailure(RESUME.withRedelivery(1)).newActor(HandlingOutcomeTest::handle);

    try (var log = new Logged()) {
      actor.sendMessage("bad");
      actor.sendMessage("good");
      actor.close();
      assertTrue(log.text().contains("could not note the failure in the context of a message"), log::text);
    }

    var calls = List.of("handle bad", "failed at bad", "close", "handle bad", "failed at bad", "close", "handle good",
        "close");
    assertEquals(List.of(calls, calls), List.of(outer.calls, propagator.calls));
    assertEquals(1, twoScope.report().handled());
  }

  /** A propagator that tells a send from a handling. */
  private static final class SendPropagator extends OutcomePropagator {
    @Override
    public AutoCloseable restoreForSend(String captured, Actor<?> recipient, Object message) {
      calls.add("send " + message);
      return () -> calls.add("sent");
    }
  }

  @Promise("14.13")
  @Test
  void contextFromTextIsRestoredForSend() {
    var sendPropagator = new SendPropagator();
    var sendScope = Variants.scope(options -> options.withContextPropagator(sendPropagator));
    var actor = sendScope.anonymous().newActor((Object message) -> {});
    BlockBuilder<Object> builder = BlockBuilder.of(sendScope.anonymous());

    builder.contextExecutor(actor, "m", "c=c").execute(() -> {});
    assertEquals(List.of("send m", "sent"), sendPropagator.calls);
    builder.contextExecutor(actor, "n").execute(() -> actor.sendMessage("n"));
    actor.close();

    assertEquals(List.of("handle n", "close"), sendPropagator.calls.stream().filter(
        call -> call.equals("handle n") || call.equals("close")).toList());
    assertEquals(2, sendPropagator.calls.stream().filter("sent"::equals).count());
  }

  @Promise("14.13")
  @Test
  void sendIsHandledByRestoreUnlessOverridden() {
    var actor = scope.anonymous().newActor((Object message) -> {});

    BlockBuilder.of(scope.anonymous()).contextExecutor(actor, "m", "c=c").execute(() -> {});

    assertEquals(List.of("handle m", "close"), propagator.calls);
  }
}
