package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ContextPropagator;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.engine.actor.Cells;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.scope.Scopes;
import io.fibry.mailbox.Mailbox;
import io.fibry.stereotype.Stereotypes;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.RecordingPropagator;
import io.fibry.testing.Variants;
import io.fibry.testing.Variants.Variant;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that handlers see the baggage of the sender. See also {@link BaggageFaultTest}. */
class BaggageTest {
  record GetUser() implements Request<GetUser, String> {}

  private final RecordedLetters letters = new RecordedLetters();
  private final ManualScheduler clock = new ManualScheduler();
  private final RecordingPropagator user = new RecordingPropagator("user");
  private final ActorScope scope =
      Variants.scope(o -> o.withDeadLetterListener(letters).withScheduler(clock).withContextPropagator(user));
  private final List<Object> lines = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  /** Creates an actor that records each message, and the user that its handler sees. */
  private Actor<Object> recordingActor(ActorBuilder<Object> builder) {
    return builder.newActor((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
      else lines.add(message + " " + user.get());
    });
  }

  @Promise("14.1")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void handlerSeesBaggageOfSenderOnlyDuringItsMessage(Variant variant) {
    var actor = recordingActor(variant.builder(scope));
    var gate = Gate.occupy(actor); // the messages wait behind the gate, so one thread handles all of them

    user.runWith("alice", () -> actor.sendMessage("1:"));
    actor.sendMessage("2:");
    user.runWith("bob", () -> actor.sendMessage("3:"));
    gate.open();
    actor.close();

    assertEquals(List.of("1: alice", "2: null", "3: bob"), lines);
  }

  @Promise("14.1")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#strategiesAlone")
  void senderKeepsItsContextAfterItClosesActor(Variant variant) {
    var actor = recordingActor(variant.builder(scope));

    user.runWith("alice", () -> {
      actor.sendMessage("sent by");
      actor.close();
      lines.add(user.get());
    });

    assertEquals(List.of("sent by alice", "alice"), lines);
  }

  @Promise("14.2")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#strategiesAlone")
  void requestsCarryBaggage(Variant variant) {
    var actor = variant.builder(scope).newActorWithReturn((Object message) -> message + " " + user.get());

    user.runWith("alice", () -> {
      lines.add(actor.ask("1:"));
      lines.add(actor.ask("2:", Patience.LONG));
      lines.add(actor.sendMessageReturn("3:").join());
    });

    assertEquals(List.of("1: alice", "2: alice", "3: alice"), lines);
  }

  @Promise("14.2")
  @Test
  void protocolRequestsCarryBaggage() {
    var actor = scope.anonymous()
        .newActor((GetUser get, ActorContext<GetUser> context) -> context.reply(get, user.get()));

    user.runWith("alice",
        () -> lines.addAll(List.of(actor.ask(new GetUser()), actor.sendMessageReturn(new GetUser()).join())));

    assertEquals(List.of("alice", "alice"), lines);
  }

  @Promise("14.2")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#strategiesAlone")
  void tasksCarryBaggage(Variant variant) {
    var actor = recordingActor(variant.builder(scope));

    user.runWith("alice", () -> actor.execute(() -> lines.add(user.get())));
    actor.close();

    assertEquals(List.of("alice"), lines);
  }

  @Promise("14.2")
  @Test
  void codeSentToSinkSeesBaggageOfSender() {
    var sink = Stereotypes.of(scope.anonymous()).sink(null);

    user.runWith("alice", () -> {
      sink.execAsync(state -> lines.add("1 " + user.get()));
      sink.execAndWait(state -> lines.add("2 " + user.get()));
      lines.add(sink.execFuture(state -> "3 " + user.get()).join());
      lines.add(sink.ask(state -> "4 " + user.get()));
    });

    assertEquals(List.of("1 alice", "2 alice", "3 alice", "4 alice"), lines);
  }

  @Promise("14.2")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void baggageOfMessageBlockIsCapturedOnce(Variant variant) {
    if (variant.isPriority()) return; // priority mailboxes refuse blocks of messages
    var actor = recordingActor(variant.builder(scope));

    user.runWith("alice", () -> actor.sendMessages(List.of(1, 2, 3)));
    actor.close();

    assertEquals(List.of("1 alice", "2 alice", "3 alice"), lines);
    assertEquals(1, user.captures.get());
  }

  @Promise("14.3")
  @Test
  void timerMessageCarriesBaggageCapturedAtTimerStart() {
    var actor = recordingActor(scope.anonymous().strategy(Strategy.CALLER));

    user.runWith("alice", () -> actor.sendMessageLater("once", Duration.ofMinutes(1)));
    user.runWith("bob", () -> actor.sendMessageEvery("again", Duration.ofMinutes(2)));
    user.runWith("the clock's own", () -> clock.advance(Duration.ofMinutes(5)));

    assertEquals(List.of("once alice", "again bob", "again bob"), lines);
    assertEquals(2, user.captures.get());
  }

  @Promise("14.1")
  @Test
  void messageSentByHandlerCarriesBaggageOfHandledMessage() {
    var target = recordingActor(scope.anonymous());
    var relay = scope.anonymous().newActor((Object message) -> {
      target.sendMessage(message);
    });

    user.runWith("alice", () -> relay.sendMessage("forwarded by"));
    relay.close();
    target.close();

    assertEquals(List.of("forwarded by alice"), lines);
  }

  @Promise("14.3")
  @Test
  void inlineHandlerSeesContextOfAskerWithoutCapture() {
    var actor = scope.anonymous().inlineRequests().newActorWithReturn((String message) -> user.get());
    var answer = new CompletableFuture<String>();

    Patience.startFiber(() -> user.runWith("alice", () -> answer.complete(actor.ask("who?"))));

    assertEquals("alice", Patience.value(answer));
    assertEquals(0, user.captures.get());
  }

  @Promise("14.2")
  @Test
  void resentDeadLetterCarriesBaggageOfResender() {
    var actor = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newActor((String message) -> {
      lines.add(user.get());
      throw new IllegalStateException();
    });
    user.runWith("alice", () -> actor.sendMessage("letter"));
    Patience.eventually(() -> letters.all.size() == 1);

    user.runWith("bob", () -> letters.all.getFirst().resend());
    actor.close();

    assertEquals(List.of("alice", "bob"), lines);
  }

  @Promise("14.4")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#selective")
  void stashedMessagesKeepBaggage(Variant variant) {
    var stashedMessages = new HashSet<>();
    var actor = variant.builder(scope).newActorWithReturn((Object message, ActorContext<Object> context) -> {
      if (message.equals("back")) context.unstash();
      else if (stashedMessages.add(message)) context.stash();
      else lines.add(message + " " + user.get());
      return message;
    });

    user.runWith("alice", () -> actor.sendMessage("message"));
    user.runWith("bob", () -> actor.sendMessageReturn("request"));
    user.runWith("carol", () -> actor.sendMessage("back"));
    actor.close();

    assertEquals(List.of("message alice", "request bob"), lines);
  }

  @Promise("14.5")
  @Test
  void propagatorsRestoreInOrderAndCloseInReverseOrder() {
    var steps = user.calls;
    var tenant = new RecordingPropagator("tenant");
    Scopes.configure(scope, o -> o.withContextPropagator(new StepRecorder(tenant, steps)));
    var actor = scope.anonymous().intercept((message, next) -> {
      steps.add("around");
      next.run();
    }).newActor((String message) -> steps.add("handler"));

    user.runWith("alice", () -> tenant.runWith("acme", () -> actor.sendMessage("go")));
    actor.close();

    assertEquals(List.of("set user", "set tenant", "around", "handler", "closed tenant", "closed user"), steps);
  }

  /** Calls another propagator, and copies its steps to a list shared by several propagators. */
  private record StepRecorder(RecordingPropagator delegate, List<String> steps) implements ContextPropagator<String> {
    @Override
    public String capture() {
      return delegate.capture();
    }

    @Override
    public AutoCloseable restore(String captured) {
      var contextToClose = delegate.restore(captured);
      steps.add(delegate.calls.getLast());
      return () -> {
        contextToClose.close();
        steps.add(delegate.calls.getLast());
      };
    }
  }

  @Promise("14.5")
  @Test
  void initialStateAndRollbackAndInterceptorSeeBaggage() {
    var actor = scope.anonymous().intercept((message, next) -> {
      lines.add("around " + user.get());
      next.run();
    }).initialState(() -> lines.add("state " + user.get())).rollback(state -> {
      lines.add("copy " + user.get());
      return state;
    }).newActor((Boolean state, String message) -> lines.add("handler " + user.get()));

    user.runWith("alice", () -> actor.sendMessage("go"));
    actor.close();

    assertEquals(4, lines.size());
    assertTrue(lines.stream().allMatch(line -> line.toString().endsWith(" alice")), lines::toString);
  }

  @Promise("14.5")
  @Test
  void logLineAndDeadLetterOfFailureSeeBaggage() {
    Scopes.configure(scope, o -> o.withDeadLetterListener(letter -> lines.add("letter " + user.get())));
    var actor = scope.anonymous().newActor((Object message) -> {
      throw new IllegalStateException("on purpose");
    });

    try (var logged = new Logged()) {
      user.runWith("alice", () -> actor.sendMessage(new UserText(user)));
      actor.close();

      assertTrue(logged.text().contains("shown to alice"), logged.text());
    }
    assertEquals(List.of("letter alice"), lines);
  }

  /** A message whose text names the user of the thread that calls {@code toString}. */
  private record UserText(RecordingPropagator user) {
    @Override
    public String toString() {
      return "shown to " + user.get();
    }
  }

  @Promise("14.3")
  @Test
  void poisonPillAndHooksCarryNoBaggage() {
    var actor = scope.anonymous().initialState(Object::new).onStop(state -> lines.add("stop " + user.get()))
        .newActor((Object state, String message) -> lines.add(message));
    actor.sendMessage("message");

    user.runWith("alice", actor::sendPoisonPill);
    Patience.awaitEnd(actor::waitForExit);

    assertEquals(List.of("message", "stop null"), lines);
    assertEquals(1, user.captures.get());
  }

  @Promise("14.7")
  @Test
  void cancelledRequestKeepsNoBaggage() {
    var actor = recordingActor(scope.anonymous());
    Gate.occupy(actor);
    var request = new CompletableFuture<CompletableFuture<?>>();
    user.runWith("alice", () -> request.complete(Cells.sendRequest(actor, "request")));

    request.join().cancel(true);

    assertNull(((RequestFuture<?>) request.join()).baggage);
  }

  @Promise("14.7")
  @Test
  void actorOfScopeWithoutPropagatorsCapturesNothing() {
    var actor = recordingActor(Variants.scope(letters).anonymous());

    user.runWith("alice", () -> {
      actor.sendMessage("message");
      actor.execute(() -> {});
      actor.sendMessages(List.of("block"));
    });
    actor.close();

    assertEquals(0, user.captures.get());
    assertEquals(List.of(), user.calls);
  }

  @Promise("14.7")
  @Test
  void messageHasNoBaggageWithoutPropagators() {
    assertNull(((Cell) recordingActor(Variants.scope(letters).anonymous())).baggage("message"));
  }

  @Promise("14.7")
  @Test
  void actorKeepsPropagatorsThatScopeHadWhenActorWasCreated() {
    var plainScope = Variants.scope(letters);
    var builder = plainScope.anonymous().mailbox(Mailbox.unbounded());
    var firstActor = recordingActor(builder);
    Scopes.configure(plainScope, o -> o.withContextPropagator(user));
    var secondActor = recordingActor(builder);

    user.runWith("alice", () -> firstActor.sendMessage("before:"));
    firstActor.close();
    user.runWith("alice", () -> secondActor.sendMessage("after:"));
    secondActor.close();

    assertEquals(List.of("before: null", "after: alice"), lines);
  }
}
