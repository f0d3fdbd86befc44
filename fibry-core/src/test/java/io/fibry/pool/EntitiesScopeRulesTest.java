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
import io.fibry.Gate;
import io.fibry.Letters;
import io.fibry.Promise;
import io.fibry.Request;
import io.fibry.flow.Flows;
import io.fibry.pubsub.Topic;
import io.fibry.support.Patience;
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
 * Calls of addresses for an entity that is being made, or that sleeps, follow the options of the
 * scope: its clock, its limit, its carriers, whether texts are shown, and where dead letters go.
 */
class EntitiesScopeRulesTest {
  private static final Duration IDLE = Duration.ofMinutes(10);
  private static final Duration LIMIT = Duration.ofHours(1); // on the clock of the scope

  private record Question(String text) implements Request<Question, String> {}

  private static final ThreadLocal<String> TENANT = new ThreadLocal<>();

  private static final ContextPropagator<String> CARRIER = new ContextPropagator<>() {
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

  private final Letters letters = new Letters();
  private final Letters ofRoot = new Letters();
  private final ActorScope.Options root = ActorScope.Options.defaults();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("bank", o -> o.withScheduler(clock).withAskLimit(LIMIT)
      .withContextPropagator(CARRIER).withMessageContents(false).withDeadLetters(letters));
  private final Gate making = new Gate();
  private final List<String> handled = new CopyOnWriteArrayList<>();
  private final AtomicInteger made = new AtomicInteger();
  private final Entities<String, Object> accounts = Entities.open(scope.anonymous(), IDLE, this::birth);

  EntitiesScopeRulesTest() {
    ActorSystem.configure(o -> o.withDeadLetters(ofRoot));
  }

  @AfterEach
  void close() {
    Gate.openAll();
    TENANT.remove();
    scope.closeWithin(Duration.ZERO);
    ActorSystem.configure(o -> root);
    assertEquals(List.of(), ofRoot.messages());
  }

  private Actor<Object> birth(ActorBuilder<Object> how, String key) {
    made.incrementAndGet();
    if (key.startsWith("slow")) making.passDeaf();
    return how.newActor((message, context) -> handle(message, context));
  }

  private void handle(Object message, ActorContext<Object> context) {
    handled.add(message + " of " + TENANT.get());
    if (message instanceof Question question) context.reply(question, TENANT.get());
  }

  /** Starts a thread that makes the entity, and waits at the gate. */
  private Thread maker(Object message) {
    var maker = Patience.startFiber(() -> accounts.actor("slow").sendMessage(message));
    Patience.await(making.entered);
    return maker;
  }

  private <T> CompletableFuture<T> elsewhere(Callable<T> code) {
    var result = new CompletableFuture<T>();
    Patience.startFiber(code, result);
    return result;
  }

  // ---- an ask while the entity is being made

  @Promise("23.9")
  @Test
  void theLimitAndTheClockOfTheScopeHoldWhileAnEntityIsMade() {
    maker("first");
    var late = elsewhere(
        () -> assertThrows(AskTimeoutException.class, () -> accounts.actor("slow").ask(new Question("?"))));

    Patience.eventually(() -> {
      clock.advance(LIMIT);
      return late.isDone();
    });

    assertEquals(LIMIT, Patience.value(late).waited());
    assertTrue(late.join().getMessage().contains("'entity slow'"), late.join()::getMessage);
  }

  @Promise("23.9")
  @Test
  void aTextThatTheScopeHidesIsHiddenWhileAnEntityIsMade() {
    maker("first");
    var late = elsewhere(
        () -> assertThrows(AskTimeoutException.class, () -> accounts.actor("slow").ask(new Question("my password"))));

    Patience.eventually(() -> {
      clock.advance(LIMIT);
      return late.isDone();
    });

    assertFalse(late.join().getMessage().contains("password"), late.join()::getMessage);
  }

  @Promise("23.9")
  @Test
  void carriersGoAlongWhileAnEntityIsMade() {
    maker("first");
    var asked = new CompletableFuture<String>();
    var asker = Patience.startFiber(() -> {
      TENANT.set("ada");
      return accounts.actor("slow").ask(new Question("?"), Patience.LONG);
    }, asked);
    Patience.parked(asker);
    making.open();

    assertEquals("ada", Patience.value(asked));
  }

  // ---- dead letters

  @Promise("23.9")
  @Test
  void deadLettersOfEntitiesThatHaveEndedAreTheScopes() {
    accounts.actor("ada").sendMessage("hello");
    accounts.close();

    assertFalse(accounts.actor("ada").sendMessage("too late"));
    assertFalse(accounts.actor("never made").sendMessage("too late as well"));
    assertThrows(ActorStoppedException.class, () -> accounts.actor("ada").ask(new Question("?")));

    assertEquals(List.of("too late", "too late as well"), letters.messages().subList(0, 2));
    assertEquals(3, scope.report().unhandled().values().stream().mapToLong(Long::longValue).sum());
    assertEquals(1, made.get());
  }

  @Test
  void deadLettersAfterTheEndOfTheScopeAreItsOwn() {
    scope.close();

    assertFalse(accounts.actor("ada").sendMessage("too late"));
    assertThrows(ActorStoppedException.class, () -> accounts.actor("ada").ask(new Question("?")));

    assertEquals("too late", letters.messages().getFirst());
  }

  @Test
  void aTimerThatIsStartedTooLateIsADeadLetterOfTheScope() {
    accounts.actor("ada").sendMessageLater("early", Duration.ofHours(1));
    accounts.close();
    accounts.actor("ada").sendMessageLater("late", Duration.ofHours(1));

    assertEquals(List.of("early", "late"), letters.messages());
  }

  // ---- timers

  @Promise("23.9")
  @Test
  void timerCarriesBaggageOfItsStarter() {
    TENANT.set("ada");
    accounts.actor("new").sendMessageLater("tick", LIMIT);
    TENANT.set("bob");
    clock.advance(LIMIT);

    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(List.of("tick of ada"), handled);
  }

  @Test
  void theScopeIsNotQuietUntilTheMessageOfATimerIsHandled() {
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
  void anAddressStaysSubscribedWhileItsActorSleeps() {
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
    assertEquals(2, made.get());
    assertTrue(letters.messages().isEmpty() || letters.messages().equals(List.of("three")), letters::toString);
    news.publish("four"); // to nobody
    assertFalse(letters.messages().contains("four"));
    news.close();
  }

  @Promise("23.11")
  @Test
  void aStreamGoesOnWhileTheActorOfItsAddressSleeps() {
    try (var publisher = new SubmissionPublisher<Object>(Runnable::run, 16)) {
      publisher.subscribe(Flows.subscriber(accounts.actor("ada"), 4));
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

  // ---- ends while the entity is being made

  static Stream<Consumer<Actor<?>>> ends() {
    return Stream.of(Actor::askExit, Actor::kill, Actor::sendPoisonPill);
  }

  @Promise("23.10")
  @ParameterizedTest
  @MethodSource("ends")
  void anEndWhileAnEntityIsMadeEndsItOnceItIsMade(Consumer<Actor<?>> end) {
    var maker = maker("first");
    end.accept(accounts.actor("slow"));
    var over = new CompletableFuture<ExitReason>();
    // It waits before the entity is made: otherwise it could get the end of the next entity.
    Patience.parked(Patience.startFiber(() -> accounts.actor("slow").onExit().get(), over));
    assertFalse(accounts.actor("slow").waitForExit(Duration.ZERO));

    making.open();
    Patience.joined(maker);
    Patience.value(over);

    Patience.eventually(() -> handled.size() == 1); // by this actor, or by the next one
    assertEquals(List.of("first of null"), handled);
    assertEquals(List.of(), letters.messages());
  }

  @Promise("23.10")
  @Test
  void aCloseWhileAnEntityIsMadeWaitsForItsEnd() {
    maker("first");
    var closed = elsewhere(() -> {
      accounts.actor("slow").close();
      return List.copyOf(handled);
    });
    var waited = elsewhere(() -> {
      accounts.actor("slow").waitForExit();
      return List.copyOf(handled);
    });
    making.open();

    assertEquals(List.of("first of null"), Patience.value(closed));
    Patience.value(waited);
    Patience.eventually(() -> accounts.size() == 0);
    assertEquals(1, made.get());
  }

  @Test
  void waitForEndOfEntityDuringBirthKeepsItsLimit() {
    maker("first");
    var ended = elsewhere(() -> accounts.actor("slow").waitForExit(LIMIT));

    Patience.eventually(() -> {
      clock.advance(LIMIT);
      return ended.isDone();
    });

    assertFalse(Patience.value(ended));
  }

  @Test
  void aBirthThatClosesItsOwnEntityIsToldSo() {
    var address = new CompletableFuture<Actor<Object>>();
    Entities<String, Object> own = Entities.open(scope.anonymous(), IDLE, (how, key) -> {
      address.join().close();
      return how.newActor(message -> {});
    });
    address.complete(own.actor("ada"));

    var refused = assertThrows(IllegalStateException.class, () -> own.actor("ada").sendMessage("hello"));

    assertTrue(refused.getMessage().startsWith("the birth of entity ada uses entity ada, which waits"),
        refused::getMessage);
    own.kill();
  }
}
