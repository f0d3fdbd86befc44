package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ContextPropagator;
import io.fibry.CountingPropagator;
import io.fibry.FailurePolicy;
import io.fibry.Gate;
import io.fibry.Letters;
import io.fibry.Promise;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.Variants;
import io.fibry.Variants.Variant;
import io.fibry.engine.actor.Cells;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.scope.Scopes;
import io.fibry.mailbox.Mailbox;
import io.fibry.stereotype.Stereotypes;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
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

/** Values of the sender's thread follow its messages. See also {@link BaggageFaultTest}. */
class BaggageTest {
  record Who() implements Request<Who, String> {}

  private final Letters letters = new Letters();
  private final ManualScheduler clock = new ManualScheduler();
  private final CountingPropagator user = new CountingPropagator("user");
  private final ActorScope scope =
      Variants.scope(o -> o.withDeadLetters(letters).withScheduler(clock).withContextPropagator(user));
  private final List<Object> seen = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  /** Records what each message finds. */
  private Actor<Object> noting(ActorBuilder<Object> builder) {
    return builder.newActor((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
      else seen.add(message + " " + user.get());
    });
  }

  @Promise("14.1")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#all")
  void baggageOfSenderReachesHandlerAndIsGoneAfterwards(Variant variant) {
    var actor = noting(variant.builder(scope));
    var gate = Gate.occupy(actor); // one thread then handles them all

    user.with("alice", () -> actor.sendMessage("1:"));
    actor.sendMessage("2:");
    user.with("bob", () -> actor.sendMessage("3:"));
    gate.open();
    actor.close();

    assertEquals(List.of("1: alice", "2: null", "3: bob"), seen);
  }

  @Promise("14.1")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#strategiesAlone")
  void senderKeepsItsBaggage(Variant variant) {
    var actor = noting(variant.builder(scope));

    user.with("alice", () -> {
      actor.sendMessage("sent by");
      actor.close();
      seen.add(user.get());
    });

    assertEquals(List.of("sent by alice", "alice"), seen);
  }

  @Promise("14.2")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#strategiesAlone")
  void requestsCarryBaggage(Variant variant) {
    var actor = variant.builder(scope).newActorWithReturn((Object message) -> message + " " + user.get());

    user.with("alice", () -> {
      seen.add(actor.ask("1:"));
      seen.add(actor.ask("2:", Patience.LONG));
      seen.add(actor.sendMessageReturn("3:").join());
    });

    assertEquals(List.of("1: alice", "2: alice", "3: alice"), seen);
  }

  @Promise("14.2")
  @Test
  void protocolRequestsCarryBaggage() {
    var actor = scope.anonymous().newActor((Who who, ActorContext<Who> context) -> context.reply(who, user.get()));

    user.with("alice", () -> seen.addAll(List.of(actor.ask(new Who()), actor.sendMessageReturn(new Who()).join())));

    assertEquals(List.of("alice", "alice"), seen);
  }

  @Promise("14.2")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#strategiesAlone")
  void tasksCarryBaggage(Variant variant) {
    var actor = noting(variant.builder(scope));

    user.with("alice", () -> actor.execute(() -> seen.add(user.get())));
    actor.close();

    assertEquals(List.of("alice"), seen);
  }

  @Promise("14.2")
  @Test
  void allSinkVerbsCarryBaggage() {
    var sink = Stereotypes.of(scope.anonymous()).sink(null);

    user.with("alice", () -> {
      sink.execAsync(nothing -> seen.add("1 " + user.get()));
      sink.execAndWait(nothing -> seen.add("2 " + user.get()));
      seen.add(sink.execFuture(nothing -> "3 " + user.get()).join());
      seen.add(sink.ask(nothing -> "4 " + user.get()));
    });

    assertEquals(List.of("1 alice", "2 alice", "3 alice", "4 alice"), seen);
  }

  @Promise("14.2")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#all")
  void aBlockIsCapturedOnce(Variant variant) {
    if (variant.priority()) return; // priority mailboxes refuse blocks
    var actor = noting(variant.builder(scope));

    user.with("alice", () -> actor.sendMessages(List.of(1, 2, 3)));
    actor.close();

    assertEquals(List.of("1 alice", "2 alice", "3 alice"), seen);
    assertEquals(1, user.captures.get());
  }

  @Promise("14.3")
  @Test
  void timerCarriesBaggageOfItsStart() {
    var actor = noting(scope.anonymous().strategy(Strategy.CALLER));

    user.with("alice", () -> actor.sendMessageLater("once", Duration.ofMinutes(1)));
    user.with("bob", () -> actor.sendMessageEvery("again", Duration.ofMinutes(2)));
    user.with("the clock's own", () -> clock.advance(Duration.ofMinutes(5)));

    assertEquals(List.of("once alice", "again bob", "again bob"), seen);
    assertEquals(2, user.captures.get());
  }

  @Promise("14.1")
  @Test
  void handlerPassesItsBaggageOn() {
    var last = noting(scope.anonymous());
    var first = scope.anonymous().newActor((Object message) -> {
      last.sendMessage(message);
    });

    user.with("alice", () -> first.sendMessage("handed on by"));
    first.close();
    last.close();

    assertEquals(List.of("handed on by alice"), seen);
  }

  @Promise("14.3")
  @Test
  void inlineRequestNeedsNoBaggage() {
    var actor = scope.anonymous().inlineRequests().newActorWithReturn((String message) -> user.get());
    var answer = new CompletableFuture<String>();

    Patience.startFiber(() -> user.with("alice", () -> answer.complete(actor.ask("who?"))));

    assertEquals("alice", Patience.value(answer));
    assertEquals(0, user.captures.get());
  }

  @Promise("14.2")
  @Test
  void resentDeadLetterCarriesBaggageOfResender() {
    var actor = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newActor((String message) -> {
      seen.add(user.get());
      throw new IllegalStateException();
    });
    user.with("alice", () -> actor.sendMessage("letter"));
    Patience.eventually(() -> letters.all.size() == 1);

    user.with("bob", () -> letters.all.getFirst().resend());
    actor.close();

    assertEquals(List.of("alice", "bob"), seen);
  }

  @Promise("14.4")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#selective")
  void stashedMessagesKeepBaggage(Variant variant) {
    var put = new HashSet<>();
    var actor = variant.builder(scope).newActorWithReturn((Object message, ActorContext<Object> context) -> {
      if (message.equals("back")) context.unstash();
      else if (put.add(message)) context.stash();
      else seen.add(message + " " + user.get());
      return message;
    });

    user.with("alice", () -> actor.sendMessage("message"));
    user.with("bob", () -> actor.sendMessageReturn("request"));
    user.with("carol", () -> actor.sendMessage("back"));
    actor.close();

    assertEquals(List.of("message alice", "request bob"), seen);
  }

  @Promise("14.5")
  @Test
  void carriersAreSetInTheirOrderAndTakenBackInTheReverse() {
    var steps = user.steps;
    var tenant = new CountingPropagator("tenant");
    Scopes.configure(scope, o -> o.withContextPropagator(new Joined(tenant, steps)));
    var actor = scope.anonymous().intercept((message, next) -> {
      steps.add("around");
      next.run();
    }).newActor((String message) -> steps.add("handler"));

    user.with("alice", () -> tenant.with("acme", () -> actor.sendMessage("go")));
    actor.close();

    assertEquals(List.of("set user", "set tenant", "around", "handler", "closed tenant", "closed user"), steps);
  }

  /** Records its steps in a list shared with others. */
  private record Joined(CountingPropagator baggage, List<String> steps) implements ContextPropagator<String> {
    @Override
    public String capture() {
      return baggage.capture();
    }

    @Override
    public AutoCloseable restore(String captured) {
      var open = baggage.restore(captured);
      steps.add(baggage.steps.getLast());
      return () -> {
        open.close();
        steps.add(baggage.steps.getLast());
      };
    }
  }

  @Promise("14.5")
  @Test
  void initialStateAndRollbackAndInterceptorSeeBaggage() {
    var actor = scope.anonymous().intercept((message, next) -> {
      seen.add("around " + user.get());
      next.run();
    }).initialState(() -> seen.add("state " + user.get())).rollback(state -> {
      seen.add("copy " + user.get());
      return state;
    }).newActor((Boolean state, String message) -> seen.add("handler " + user.get()));

    user.with("alice", () -> actor.sendMessage("go"));
    actor.close();

    assertEquals(4, seen.size());
    assertTrue(seen.stream().allMatch(line -> line.toString().endsWith(" alice")), seen::toString);
  }

  @Promise("14.5")
  @Test
  void logLineAndDeadLetterOfFailureSeeBaggage() {
    Scopes.configure(scope, o -> o.withDeadLetters(letter -> seen.add("letter " + user.get())));
    var actor = scope.anonymous().newActor((Object message) -> {
      throw new IllegalStateException("on purpose");
    });

    try (var logged = new Logged()) {
      user.with("alice", () -> actor.sendMessage(new Shown(user)));
      actor.close();

      assertTrue(logged.text().contains("shown to alice"), logged.text());
    }
    assertEquals(List.of("letter alice"), seen);
  }

  /** Its text is the value on the thread that calls {@code toString}. */
  private record Shown(CountingPropagator user) {
    @Override
    public String toString() {
      return "shown to " + user.get();
    }
  }

  @Promise("14.3")
  @Test
  void neitherThePillNorTheHooksCarryAnything() {
    var actor = scope.anonymous().initialState(Object::new).onStop(state -> seen.add("stop " + user.get()))
        .newActor((Object state, String message) -> seen.add(message));
    actor.sendMessage("made");

    user.with("alice", actor::sendPoisonPill);
    Patience.ended(actor::waitForExit);

    assertEquals(List.of("made", "stop null"), seen);
    assertEquals(1, user.captures.get());
  }

  @Promise("14.7")
  @Test
  void cancelledRequestKeepsNoBaggage() {
    var actor = noting(scope.anonymous());
    Gate.occupy(actor);
    var request = new CompletableFuture<CompletableFuture<?>>();
    user.with("alice", () -> request.complete(Cells.sendRequest(actor, "request")));

    request.join().cancel(true);

    assertNull(((RequestFuture<?>) request.join()).baggage);
  }

  @Promise("14.7")
  @Test
  void nothingIsCapturedForActorsOfAScopeWithoutCarriers() {
    var actor = noting(Variants.scope(letters).anonymous());

    user.with("alice", () -> {
      actor.sendMessage("message");
      actor.execute(() -> {});
      actor.sendMessages(List.of("block"));
    });
    actor.close();

    assertEquals(0, user.captures.get());
    assertEquals(List.of(), user.steps);
  }

  @Promise("14.7")
  @Test
  void aMessageWithoutCarriersCarriesNothing() {
    assertNull(((Cell) noting(Variants.scope(letters).anonymous())).baggage("message"));
  }

  @Promise("14.7")
  @Test
  void aBuilderGivesTheCarriersThatItsScopeHasWhenAnActorIsMade() {
    var bare = Variants.scope(letters);
    var builder = bare.anonymous().mailbox(Mailbox.unbounded());
    var before = noting(builder);
    Scopes.configure(bare, o -> o.withContextPropagator(user));
    var after = noting(builder);

    user.with("alice", () -> before.sendMessage("before:"));
    before.close();
    user.with("alice", () -> after.sendMessage("after:"));
    after.close();

    assertEquals(List.of("before: null", "after: alice"), seen);
  }
}
