package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorWithReturn;
import io.fibry.ContextPropagator;
import io.fibry.DeadLetter;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.Request;
import io.fibry.Sink;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Entities;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import io.fibry.testing.Variants.Variant;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that a context propagator sees each sent and each handled message, together with its actor.
 */
class ContextPropagatorTest {
  private static final Duration LIMIT = Patience.LONG;
  private static final Runnable TASK = () -> {};
  private static final Handler<Object> SINK_HANDLER = state -> {};
  private static final Handler.Returning<Object, Object> RETURNING_SINK_HANDLER = state -> "answer";
  private static final EmptyRequest REQUEST = new EmptyRequest();

  record EmptyRequest() implements Request<EmptyRequest, EmptyRequest> {}

  private record Call(Actor<?> actor, Object message) {}

  private static final class RecordingPropagator implements ContextPropagator<String> {
    final List<Call> sentCalls = new CopyOnWriteArrayList<>();
    final List<Call> handledCalls = new CopyOnWriteArrayList<>();
    volatile Consumer<Object> atCapture = message -> {};

    @Override
    public String capture() {
      throw new AssertionError("Fibry must call capture(actor, message)");
    }

    @Override
    public AutoCloseable restore(String captured) {
      throw new AssertionError("Fibry must call restore(captured, actor, message)");
    }

    @Override
    public String capture(Actor<?> actor, Object message) {
      sentCalls.add(new Call(actor, message));
      atCapture.accept(message);
      return "captured";
    }

    @Override
    public AutoCloseable restore(String captured, Actor<?> actor, Object message) {
      assertEquals("captured", captured);
      handledCalls.add(new Call(actor, message));
      return null;
    }

    void assertCalls(Actor<?> actor, List<?> expectedSent, List<?> expectedHandled) {
      Patience.eventually(() -> handledCalls.size() >= expectedHandled.size());
      assertEquals(calls(actor, expectedSent), sentCalls);
      assertEquals(calls(actor, expectedHandled), handledCalls);
    }

    private static List<Call> calls(Actor<?> actor, List<?> messages) {
      return messages.stream().map(message -> new Call(actor, message)).toList();
    }
  }

  private final RecordingPropagator propagator = new RecordingPropagator();
  private final RecordedLetters letters = new RecordedLetters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope =
      Variants.scope(o -> o.withDeadLetterListener(letters).withScheduler(clock).withContextPropagator(propagator));

  private record SendCase(String name, Consumer<ActorWithReturn<Object, Object>> send, List<?> sent, List<?> handled) {
    SendCase(String name, Consumer<ActorWithReturn<Object, Object>> send, Object... messages) {
      this(name, send, List.of(messages), List.of(messages));
    }

    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<SendCase> sendCases() {
    return Stream.of(
        new SendCase("a message", actor -> actor.sendMessage("sent"), "sent"),
        new SendCase("a block", actor -> actor.sendMessages(List.of(1, 2)), List.of(List.of(1, 2)), List.of(1, 2)),
        new SendCase("an empty block", actor -> actor.sendMessages(List.of())),
        new SendCase("a task", actor -> actor.execute(TASK), TASK),
        new SendCase("a request", actor -> actor.ask("asked"), "asked"),
        new SendCase("a request with a limit", actor -> actor.ask("asked", LIMIT), "asked"),
        new SendCase("a future", actor -> actor.sendMessageReturn("asked"), "asked"),
        new SendCase("a future with a limit", actor -> actor.sendMessageReturn("asked", LIMIT), "asked"),
        new SendCase("a request of a protocol", actor -> actor.ask(REQUEST), REQUEST),
        new SendCase("a request of a protocol with a limit", actor -> actor.ask(REQUEST, LIMIT), REQUEST),
        new SendCase("a future of a protocol", actor -> actor.sendMessageReturn(REQUEST), REQUEST),
        new SendCase("a future of a protocol with a limit", actor -> actor.sendMessageReturn(REQUEST, LIMIT), REQUEST),
        new SendCase("a pill", Actor::sendPoisonPill));
  }

  @Promise("14.9")
  @ParameterizedTest
  @MethodSource("sendCases")
  void propagatorSeesEachSentMessageAndItsActor(SendCase testCase) {
    var actor = scope.anonymous().newActorWithReturn((Object message) -> message);

    testCase.send.accept(actor);
    actor.close();

    propagator.assertCalls(actor, testCase.sent, testCase.handled);
  }

  @Promise("14.9")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void propagatorSeesMessagesOfEachMailboxAndStrategy(Variant variant) {
    var actor = variant.builder(scope).newActor((Object message) -> {});

    actor.sendMessage(1);
    actor.close();

    propagator.assertCalls(actor, List.of(1), List.of(1));
  }

  private record SinkCase(String name, Consumer<Sink<Object>> send, Object code) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<SinkCase> sinkCases() {
    return Stream.of(
        new SinkCase("execAsync", sink -> sink.execAsync(SINK_HANDLER), SINK_HANDLER),
        new SinkCase("execAndWait", sink -> sink.execAndWait(SINK_HANDLER), SINK_HANDLER),
        new SinkCase("execFuture", sink -> sink.execFuture(RETURNING_SINK_HANDLER), RETURNING_SINK_HANDLER),
        new SinkCase("ask", sink -> sink.ask(RETURNING_SINK_HANDLER), RETURNING_SINK_HANDLER),
        new SinkCase("ask with a limit", sink -> sink.ask(RETURNING_SINK_HANDLER, LIMIT), RETURNING_SINK_HANDLER),
        new SinkCase("execute", sink -> sink.execute(TASK), TASK));
  }

  @Promise("14.9")
  @ParameterizedTest
  @MethodSource("sinkCases")
  void propagatorSeesCodeSentToSink(SinkCase testCase) {
    var sink = scope.anonymous().initialState(Object::new).newSink();

    testCase.send.accept(sink);
    sink.close();

    propagator.assertCalls((Actor<?>) sink, List.of(testCase.code), List.of(testCase.code));
  }

  @Promise("14.9")
  @Test
  void propagatorSeesStartAndEachMessageOfTimer() {
    var actor = scope.anonymous().strategy(Strategy.CALLER).newActor((Object message) -> {});

    actor.sendMessageLater("later", Duration.ofMinutes(1));
    actor.sendMessageEvery("key", "every", Duration.ofMinutes(2));
    propagator.assertCalls(actor, List.of("later", "every"), List.of());
    clock.advance(Duration.ofMinutes(5));

    propagator.assertCalls(actor, List.of("later", "every"), List.of("later", "every", "every"));
  }

  @Promise("14.9")
  @Test
  void propagatorSeesStartOfTimerForEndedActor() {
    var actor = scope.anonymous().newActor((Object message) -> {});
    actor.close();

    actor.sendMessageLater("too late", Duration.ofMinutes(1));

    propagator.assertCalls(actor, List.of("too late"), List.of());
    assertEquals(List.of("too late"), letters.messages());
  }

  @Promise("14.9")
  @Test
  void propagatorSeesDeadLetterAgainWhenResent() {
    var actor = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newActor((Object message) -> {
      throw new IllegalStateException();
    });
    Runnable failingTask = () -> {
      throw new IllegalStateException();
    };
    actor.sendMessage("letter");
    actor.execute(failingTask);
    Patience.eventually(() -> letters.all.size() == 2);

    letters.all.forEach(DeadLetter::resend);
    actor.close();

    var messages = List.of("letter", failingTask, "letter", failingTask);
    propagator.assertCalls(actor, messages, messages);
  }

  @Promise("14.9")
  @Test
  void propagatorSeesStashedMessageAgainWhenUnstashed() {
    var stashed = new CompletableFuture<Boolean>();
    var actor = scope.anonymous().mailbox(Mailbox.unbounded().selective())
        .newActor((Object message, ActorContext<Object> context) -> {
          if (message.equals("unstash")) context.unstash();
          else if (stashed.complete(true)) context.stash();
        });

    actor.sendMessage("first");
    actor.sendMessage("unstash");
    actor.close();

    propagator.assertCalls(actor, List.of("first", "unstash"), List.of("first", "unstash", "first"));
  }

  static Stream<UnaryOperator<ActorBuilder<Object>>> pools() {
    return Stream.of(
        builder -> Pools.fixed(builder, 2),
        builder -> Pools.scaling(builder, 1, 3),
        builder -> Pools.weighted(builder, 2, message -> 1),
        builder -> Pools.byKey(builder, 2, message -> message),
        Pools::perMessage);
  }

  @Promise("14.9")
  @ParameterizedTest
  @MethodSource("pools")
  void propagatorSeesPoolAsActorOfMessageHandledByWorker(UnaryOperator<ActorBuilder<Object>> poolFactory) {
    var pool = poolFactory.apply(scope.named("pool")).newActorWithReturn((Object message) -> message);

    pool.sendMessage("sent");
    propagator.assertCalls(pool, List.of("sent"), List.of("sent"));
    pool.ask("asked");
    pool.execute(TASK);

    propagator.assertCalls(pool, List.of("sent", "asked", TASK), List.of("sent", "asked", TASK));
  }

  @Promise("14.9")
  @Test
  void propagatorSeesActorOfEntityInsteadOfItsAddress() {
    var actors = new CopyOnWriteArrayList<Actor<Object>>();
    var entities = Entities.open(scope.anonymous(), Duration.ofHours(1), (ActorBuilder<Object> builder, String key) -> {
      actors.add(builder.newActor((Object message) -> {}));
      return actors.getFirst();
    });

    entities.actor("key").sendMessage("sent");

    propagator.assertCalls(actors.getFirst(), List.of("sent"), List.of("sent"));
  }

  @Promise("14.9")
  @Test
  void propagatorSeesMessageBeforeMailboxAcceptsIt() {
    var handledMessages = new CopyOnWriteArrayList<Object>();
    var actor = scope.anonymous().mailbox(Mailbox.bounded(9, Overflow.REJECT))
        .newActor((Object message) -> handledMessages.add(message));
    propagator.atCapture = message -> {
      if (message.equals("late")) actor.sendMessage("early");
    };

    actor.sendMessage("late");
    actor.close();

    assertEquals(List.of("early", "late"), handledMessages);
  }
}
