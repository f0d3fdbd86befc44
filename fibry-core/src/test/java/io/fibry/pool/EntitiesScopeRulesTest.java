package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.AskTimeoutException;
import io.fibry.ContextPropagator;
import io.fibry.ExitReason;
import io.fibry.Request;
import io.fibry.flow.FlowBridges;
import io.fibry.pubsub.Topic;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that the actor that {@code Entities.actor(key)} returns obeys the options of the scope,
 * also while the entity is being created or is passivated. The options are clock, limit,
 * propagators, hidden contents and dead letters.
 */
class EntitiesScopeRulesTest {
  private static final Duration IDLE = Duration.ofMinutes(10);
  private static final Duration LIMIT = Duration.ofHours(1); // on the manual clock of the scope

  private record Question(String text) implements Request<Question, String> {}

  private static final ThreadLocal<String> TENANT = new ThreadLocal<>();

  private static final ContextPropagator<String> PROPAGATOR = new ContextPropagator<>() {
    @Override
    public String capture() {
      return TENANT.get();
    }

    @Override
    public AutoCloseable restore(String captured) {
      TENANT.set(captured);
      return TENANT::remove;
    }
  };

  private final RecordedLetters letters = new RecordedLetters();
  private final RecordedLetters rootLetters = new RecordedLetters();
  private final ActorScope.Options rootOptions = ActorScope.Options.defaults();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("bank", o -> o.withScheduler(clock).withAskLimit(LIMIT)
      .withContextPropagator(PROPAGATOR).withMessageContents(false).withDeadLetterListener(letters));
  private final Gate creationGate = new Gate();
  private final List<String> handled = new CopyOnWriteArrayList<>();
  private final AtomicInteger creationCount = new AtomicInteger();
  private final Entities<String, Object> accounts = Entities.open(scope.anonymous(), IDLE, this::birth);

  EntitiesScopeRulesTest() {
    ActorSystem.configure(o -> o.withDeadLetterListener(rootLetters));
  }

  @AfterEach
  void close() {
    Gate.openAll();
    TENANT.remove();
    scope.closeWithin(Duration.ZERO);
    ActorSystem.configure(o -> rootOptions);
    assertEquals(List.of(), rootLetters.messages());
  }

  private Actor<Object> birth(ActorBuilder<Object> builder, String key) {
    creationCount.incrementAndGet();
    if (key.startsWith("slow")) creationGate.passUninterruptibly();
    return builder.newActor((message, context) -> handle(message, context));
  }

  private void handle(Object message, ActorContext<Object> context) {
    handled.add(message + " of " + TENANT.get());
    if (message instanceof Question question) context.reply(question, TENANT.get());
  }

  /** Starts a thread that creates the entity, and waits until that thread is at the gate. */
  private Thread startCreation(Object message) {
    var creator = Patience.startFiber(() -> accounts.actor("slow").sendMessage(message));
    Patience.await(creationGate.entered);
    return creator;
  }

  private <T> CompletableFuture<T> callOnFiber(Callable<T> code) {
    CompletableFuture<T> result = Patience.callOnFiber(code);
    return result;
  }

  // ---- an ask while the entity is being created

  @Promise("23.9")
  @Test
  void askDuringCreationUsesLimitAndClockOfScope() {
    startCreation("first");
    var timeout = callOnFiber(
        () -> assertThrows(AskTimeoutException.class, () -> accounts.actor("slow").ask(new Question("?"))));

    Patience.eventually(() -> {
      clock.advance(LIMIT);
      return timeout.isDone();
    });

    assertEquals(LIMIT, Patience.value(timeout).limit());
    assertTrue(timeout.join().getMessage().contains("'entity slow'"), timeout.join()::getMessage);
  }

  @Promise("23.9")
  @Test
  void timeoutDuringCreationHidesMessageContents() {
    startCreation("first");
    var timeout = callOnFiber(
        () -> assertThrows(AskTimeoutException.class, () -> accounts.actor("slow").ask(new Question("my password"))));

    Patience.eventually(() -> {
      clock.advance(LIMIT);
      return timeout.isDone();
    });

    assertFalse(timeout.join().getMessage().contains("password"), timeout.join()::getMessage);
  }

  @Promise("23.9")
  @Test
  void askDuringCreationCarriesContextOfAsker() {
    startCreation("first");
    var answer = new CompletableFuture<String>();
    var asker = Patience.startFiber(() -> {
      TENANT.set("ada");
      return accounts.actor("slow").ask(new Question("?"), Patience.LONG);
    }, answer);
    Patience.awaitParked(asker);
    creationGate.open();

    assertEquals("ada", Patience.value(answer));
  }

  // ---- dead letters

  @Promise("23.9")
  @Test
  void endedEntitiesSendDeadLettersToTheirScope() {
    accounts.actor("ada").sendMessage("hello");
    accounts.close();

    assertFalse(accounts.actor("ada").sendMessage("too late"));
    assertFalse(accounts.actor("never made").sendMessage("too late as well"));
    assertThrows(ActorStoppedException.class, () -> accounts.actor("ada").ask(new Question("?")));

    assertEquals(List.of("too late", "too late as well"), letters.messages().subList(0, 2));
    assertEquals(3, scope.report().unhandled().values().stream().mapToLong(Long::longValue).sum());
    assertEquals(1, creationCount.get());
  }

  @Test
  void closedScopeStillGetsDeadLettersOfItsEntities() {
    scope.close();

    assertFalse(accounts.actor("ada").sendMessage("too late"));
    assertThrows(ActorStoppedException.class, () -> accounts.actor("ada").ask(new Question("?")));

    assertEquals("too late", letters.messages().getFirst());
  }

  @Test
  void timerMessagesOfEndedEntitiesAreDeadLettersOfScope() {
    accounts.actor("ada").sendMessageLater("early", Duration.ofHours(1));
    accounts.close();
    accounts.actor("ada").sendMessageLater("late", Duration.ofHours(1));

    assertEquals(List.of("early", "late"), letters.messages());
  }

  // ---- timers

  @Promise("23.9")
  @Test
  void timerMessageCarriesContextOfThreadThatSetTimer() {
    TENANT.set("ada");
    accounts.actor("new").sendMessageLater("tick", LIMIT);
    TENANT.set("bob");
    clock.advance(LIMIT);

    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(List.of("tick of ada"), handled);
  }

  @Test
  void scopeIsNotQuietUntilTimerMessageIsHandled() {
    for (int i = 0; i < 500; i++) {
      accounts.actor("key" + i).sendMessageLater("tick " + i, LIMIT);
      clock.advance(LIMIT);

      assertTrue(scope.awaitQuiescence(Patience.LONG));
      assertEquals(i + 1, handled.size());
    }
  }

  // ---- subscriptions

  private void passivate() {
    Patience.eventually(() -> {
      clock.advance(IDLE);
      return accounts.size() == 0;
    });
  }

  @Promise("23.11")
  @Test
  void addressStaysSubscribedWhileItsActorIsPassivated() {
    Topic<Object> news = Topic.open(scope.anonymous());
    news.subscribe(accounts.actor("ada")); // has no actor yet
    news.publish("one");
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    passivate();
    news.publish("two");
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    accounts.close();
    news.publish("three");

    assertEquals(List.of("one of null", "two of null"), handled);
    assertEquals(2, creationCount.get());
    assertTrue(letters.messages().isEmpty() || letters.messages().equals(List.of("three")), letters::toString);
    news.publish("four"); // has no subscribers
    assertFalse(letters.messages().contains("four"));
    news.close();
  }

  @Promise("23.11")
  @Test
  void streamContinuesWhileActorOfAddressIsPassivated() {
    try (var publisher = new SubmissionPublisher<Object>(Runnable::run, 16)) {
      publisher.subscribe(FlowBridges.subscriber(accounts.actor("ada"), 4));
      publisher.submit("one");
      assertTrue(scope.awaitQuiescence(Patience.LONG));
      passivate();
      publisher.submit("two");
      assertTrue(scope.awaitQuiescence(Patience.LONG));

      assertEquals(List.of("one of null", "two of null"), handled);
      accounts.close();
      Patience.eventually(() -> !publisher.hasSubscribers());
    }
  }

  // ---- ends while the entity is being created

  static Stream<Consumer<Actor<?>>> ends() {
    return Stream.of(Actor::askExit, Actor::kill, Actor::sendPoisonPill);
  }

  @Promise("23.10")
  @ParameterizedTest
  @MethodSource("ends")
  void entityEndedDuringItsCreationEndsAfterCreation(Consumer<Actor<?>> end) {
    var creator = startCreation("first");
    end.accept(accounts.actor("slow"));
    var exit = new CompletableFuture<ExitReason>();
    // The fiber must wait before the entity exists. Otherwise it could get the end of the
    // successor.
    Patience.awaitParked(Patience.startFiber(() -> accounts.actor("slow").onExit().get(), exit));
    assertFalse(accounts.actor("slow").waitForExit(Duration.ZERO));

    creationGate.open();
    Patience.awaitEnd(creator);
    Patience.value(exit);

    Patience.eventually(() -> handled.size() == 1); // handled by this actor or by its successor
    assertEquals(List.of("first of null"), handled);
    assertEquals(List.of(), letters.messages());
  }

  @Promise("23.10")
  @Test
  void closeDuringCreationWaitsForEndOfEntity() {
    startCreation("first");
    var handledAtClose = callOnFiber(() -> {
      accounts.actor("slow").close();
      return List.copyOf(handled);
    });
    var handledAtExit = callOnFiber(() -> {
      accounts.actor("slow").waitForExit();
      return List.copyOf(handled);
    });
    creationGate.open();

    assertEquals(List.of("first of null"), Patience.value(handledAtClose));
    Patience.value(handledAtExit);
    Patience.eventually(() -> accounts.size() == 0);
    assertEquals(1, creationCount.get());
  }

  @Test
  void waitForExitDuringCreationReturnsAtItsLimit() {
    startCreation("first");
    var exitResult = callOnFiber(() -> accounts.actor("slow").waitForExit(LIMIT));

    Patience.eventually(() -> {
      clock.advance(LIMIT);
      return exitResult.isDone();
    });

    assertFalse(Patience.value(exitResult));
  }

  @Test
  void creationFunctionThatClosesItsOwnEntityIsRefused() {
    var address = new CompletableFuture<Actor<Object>>();
    Entities<String, Object> entities = Entities.open(scope.anonymous(), IDLE, (builder, key) -> {
      address.join().close();
      return builder.newActor(message -> {});
    });
    address.complete(entities.actor("ada"));

    var refusal = assertThrows(IllegalStateException.class, () -> entities.actor("ada").sendMessage("hello"));

    assertTrue(refusal.getMessage().startsWith("entity ada cannot be made: the function `birth` uses entity ada"),
        refusal::getMessage);
    entities.kill();
  }
}
