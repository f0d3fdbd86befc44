package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Misbehavior.Kind;
import io.fibry.flow.Generator;
import io.fibry.flow.Pipeline;
import io.fibry.mailbox.Mailbox;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.net.TcpAcceptor;
import io.fibry.pool.Entities;
import io.fibry.pool.Pools;
import io.fibry.pubsub.ObservableValue;
import io.fibry.pubsub.Topic;
import io.fibry.support.Patience;
import io.fibry.time.Scheduler;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every place where user code is called, and every way to misbehave there. Other actors work: they
 * answer, and timers fire. And what ends, ends: the limit of an ask, a kill, the close of the
 * scope. Two sets name the exceptions, which the semantics has too.
 */
@ExtendWith(Hush.class)
class UserCodeMatrixTest {
  private static final Duration SHORT = Duration.ofMillis(20);

  enum Place {
    HANDLER, STATE, COPY, AROUND, TASK, STOP_HOOK, RESOURCE, POLICY, COMPARATOR, WEIGHT, KEY, TEXT, CAPTURE, CARRIER,
    STRATEGY, CLOCK, LISTENER, REQUEST_CALLBACK, EXIT_CALLBACK, WATCH, BIRTH, STAGE, PRODUCER, SUBSCRIBER, FOLLOWER,
    TCP_HANDLER, HTTP_HANDLER
  }

  /** Where code that hangs holds the asker itself, which calls it. */
  private static final Set<Place> HOLD_THE_ASKER =
      EnumSet.of(Place.COMPARATOR, Place.WEIGHT, Place.KEY, Place.CAPTURE, Place.STRATEGY, Place.CLOCK);

  /** Where code that hangs holds an end, too. */
  private static final Set<Place> HOLD_THE_END = EnumSet.of(Place.COMPARATOR, Place.STRATEGY, Place.CLOCK);

  /** Called for all actors of the scope. */
  private static final Set<Place> OF_A_SCOPE = EnumSet.of(Place.CAPTURE, Place.CARRIER, Place.CLOCK);

  /** The places that are called because an actor ends. */
  private static final Set<Place> AT_THE_END =
      EnumSet.of(Place.LISTENER, Place.STOP_HOOK, Place.RESOURCE, Place.EXIT_CALLBACK, Place.WATCH);

  private final Gate held = new Gate();
  private Misbehavior code;
  private ActorScope scope;

  static Stream<Arguments> all() {
    return Stream.of(Place.values())
        .flatMap(place -> Stream.of(Kind.values()).map(kind -> Arguments.of(place, kind)));
  }

  @AfterEach
  void cleanUp() {
    code.disarm();
    Gate.openAll();
    scope.closeWithin(Patience.LONG);
  }

  @Promise("7.10")
  @ParameterizedTest
  @MethodSource("all")
  void misbehavingCodeBlocksNeitherOthersNorExit(Place place, Kind kind) throws Exception {
    code = new Misbehavior(kind);
    scope = ActorSystem.openScope("bad", options -> options(options.withKillGrace(SHORT), place));
    var victim = victim(place);
    code.arm();
    if (AT_THE_END.contains(place)) victim.askExit();
    else Patience.startFiber(() -> use(place, victim));
    held.open();
    Patience.await(code.struck);

    try (var other = ActorSystem.openScope("other")) {
      goesOn(other);
    }
    if (!OF_A_SCOPE.contains(place)) goesOn(scope);
    if (!HOLD_THE_ASKER.contains(place) || !code.hangs()) limitEnds(victim);
    if (!HOLD_THE_END.contains(place) || !code.hangs()) {
      joined("kill", victim::kill);
      Patience.ended(victim::waitForExit);
      joined("close", () -> scope.closeWithin(SHORT));
    }
  }

  static Stream<Arguments> told() {
    return Stream.of(Place.REQUEST_CALLBACK, Place.EXIT_CALLBACK, Place.WATCH, Place.TEXT)
        .flatMap(place -> Stream.of(Kind.values()).map(kind -> Arguments.of(place, kind)));
  }

  /** The misbehaving code is attached first. */
  @ParameterizedTest
  @MethodSource("told")
  void cutOffNotifiesOthersDespiteMisbehavingCode(Place place, Kind kind) {
    code = new Misbehavior(kind);
    scope = ActorSystem.openScope("bad", options -> options.withKillGrace(SHORT));
    var actor = how().newActorWithReturn((Object m) -> {
      held.passDeaf();
      return m;
    });
    var handled = actor.sendMessageReturn(place == Place.TEXT ? new Report() : "handled");
    Patience.await(held.entered);
    var waits = actor.sendMessageReturn(place == Place.TEXT ? new Report() : "waits");
    switch (place) {
      case REQUEST_CALLBACK -> List.of(handled, waits).forEach(one -> one.whenComplete((v, f) -> code.strike()));
      case EXIT_CALLBACK -> actor.onExit().whenComplete((reason, none) -> code.strike());
      case WATCH -> watch(actor, code::strike);
      default -> {}
    }
    code.arm();
    var behind = actor.sendMessageReturn("behind");
    var told = new CountDownLatch(1);
    watch(actor, told::countDown);

    joined("kill", actor::kill);

    Patience.ended(actor::waitForExit);
    Patience.await(told);
    assertInstanceOf(ActorStoppedException.class, Patience.failure(behind));
    if (place != Place.TEXT) Patience.await(code.struck);
  }

  private void watch(Exitable other, Runnable told) {
    how().newActorWithReturn((Object m, ActorContext<Object> context) -> {
      context.watch(other, reason -> {
        told.run();
        return reason;
      });
      return m;
    }).ask("watch");
  }

  @Promise("7.7")
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void hangingDeadLetterListenerDelaysNoAsker(boolean pool) {
    code = new Misbehavior(Kind.HANGS_DEAF);
    code.arm();
    scope = ActorSystem.openScope("bad", o -> o.withKillGrace(SHORT).withDeadLetters(letter -> code.strike()));
    var actor = (pool ? Pools.fixed(how(), 1) : how()).newActorWithReturn(this::held);
    actor.sendMessage("hold");
    Patience.await(held.entered);
    actor.sendMessage("becomes a dead letter");
    var behind = actor.sendMessageReturn("behind");

    joined("askExit", actor::askExit);
    held.open();

    assertInstanceOf(ActorStoppedException.class, Patience.failure(behind));
    Patience.await(code.struck);
    joined("kill", actor::kill);
    Patience.ended(actor::waitForExit);
  }

  private static void joined(String what, Runnable end) {
    assertTrue(join(Thread.ofPlatform().daemon().start(end)), () -> what + " hangs");
  }

  private static boolean join(Thread thread) {
    try {
      return thread.join(Patience.LONG);
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }

  private static void goesOn(ActorScope scope) {
    var neighbor = scope.anonymous().newActorWithReturn((Integer i) -> i + 1);
    assertEquals(2, neighbor.ask(1, Patience.LONG));
    var fired = new CountDownLatch(1);
    scope.anonymous().newActor((Integer i) -> fired.countDown()).sendMessageLater(1, Duration.ofMillis(1));
    Patience.await(fired);
  }

  private void limitEnds(ActorWithReturn<Object, Object> victim) {
    joined("ask", () -> {
      try {
        victim.ask("limit", SHORT);
      } catch (Throwable told) {}
    });
  }

  private ActorScope.Options options(ActorScope.Options options, Place place) {
    return switch (place) {
      case CAPTURE -> options.withContextPropagator(carrier(code::strike, () -> {}));
      case CARRIER -> options.withContextPropagator(carrier(() -> {}, code::strike));
      case LISTENER -> options.withDeadLetters(letter -> code.strike());
      case CLOCK -> options.withScheduler(clock());
      default -> options;
    };
  }

  private static ContextPropagator<Integer> carrier(Runnable capture, Runnable set) {
    return new ContextPropagator<>() {
      @Override
      public Integer capture() {
        capture.run();
        return 1;
      }

      @Override
      public AutoCloseable restore(Integer captured) {
        set.run();
        return () -> {};
      }
    };
  }

  private Clock clock() {
    return new Clock(Scheduler.system()) {
      @Override
      public Timer schedule(Duration delay, Runnable task) {
        code.strike();
        return super.schedule(delay, task);
      }
    };
  }

  private ActorBuilder<Object> how() {
    return scope.anonymous().onFailure(FailurePolicy.resume().withoutLog());
  }

  private static Object same(Object message) {
    return message;
  }

  /** An actor that calls the misbehaving code. */
  private ActorWithReturn<Object, Object> victim(Place place) throws Exception {
    return switch (place) {
      case HANDLER -> how().newActorWithReturn((Object m) -> code.strike());
      case STATE -> how().initialState(code::strike).newActorWithReturn((Boolean s, Object m) -> m);
      case COPY -> how().initialState(() -> 1).rollback(s -> code.strike() ? s : 0)
          .newActorWithReturn((Integer s, Object m) -> m);
      case AROUND -> how().<Object>intercept((m, next) -> {
        code.strike();
        next.run();
      }).newActorWithReturn(UserCodeMatrixTest::same);
      case STOP_HOOK -> {
        var actor =
            how().initialState(() -> 1).onStop(s -> code.strike()).newActorWithReturn((Integer s, Object m) -> m);
        actor.ask("state");
        yield actor;
      }
      case RESOURCE -> {
        var actor = how().newActorWithReturn(UserCodeMatrixTest::same);
        actor.closeOnExit(code::strike);
        yield actor;
      }
      case POLICY -> how()
          .onFailure(FailurePolicy.choose(failure -> code.strike() ? FailurePolicy.resume() : FailurePolicy.stop()))
          .newActorWithReturn((Object m) -> {
            throw new IllegalStateException("planned");
          });
      case COMPARATOR -> how().mailbox(Mailbox.priority((a, b) -> code.strike() ? 0 : 1))
          .newActorWithReturn(this::held);
      case WEIGHT -> Pools.weighted(how(), 2, (Object m) -> code.strike() ? 1 : 2)
          .newActorWithReturn(UserCodeMatrixTest::same);
      case KEY -> Pools.byKey(how(), 2, (Object m) -> code.strike()).newActorWithReturn(UserCodeMatrixTest::same);
      case TEXT -> scope.anonymous().newActorWithReturn((Object m) -> {
        throw new IllegalStateException("planned");
      });
      case STRATEGY -> how().strategy(activation -> {
        code.strike();
        Thread.startVirtualThread(activation);
      }).newActorWithReturn(UserCodeMatrixTest::same);
      case EXIT_CALLBACK -> {
        var actor = how().newActorWithReturn(UserCodeMatrixTest::same);
        actor.onExit().whenComplete((reason, none) -> code.strike());
        yield actor;
      }
      case WATCH -> {
        var actor = how().newActorWithReturn(UserCodeMatrixTest::same);
        watch(actor, code::strike);
        yield actor;
      }
      case LISTENER -> {
        var actor = how().newActorWithReturn(this::held);
        actor.sendMessage("hold");
        actor.sendMessage("becomes a dead letter");
        yield actor;
      }
      default -> how().newActorWithReturn(UserCodeMatrixTest::same);
    };
  }

  /** So that the next messages wait. */
  private Object held(Object message) throws InterruptedException {
    if (message.equals("hold")) held.pass();
    return message;
  }

  /** Text of its own. */
  private final class Report {
    @Override
    public String toString() {
      return code.strike() + "";
    }
  }

  private void use(Place place, ActorWithReturn<Object, Object> victim) {
    switch (place) {
      case TASK -> victim.execute(code::strike);
      case COMPARATOR -> {
        for (var m : List.of("hold", 1, 2, 3)) victim.sendMessage(m);
      }
      case TEXT -> victim.sendMessageReturn(new Report());
      case CLOCK -> victim.sendMessageLater("later", Duration.ofMillis(1));
      case REQUEST_CALLBACK -> victim.sendMessageReturn("asked").whenComplete((value, failure) -> code.strike());
      case BIRTH -> Entities.open(how(), SHORT, (one, key) -> code.strike() ? one.newActor((Object m) -> {}) : null)
          .actor("key").sendMessage("hello");
      case STAGE -> Pipeline.of(how(), (Object m) -> code.strike()).into(m -> {}).sendMessage("in");
      case PRODUCER -> Generator.<Object>of(how(), 1, out -> code.strike()).iterator().hasNext();
      case SUBSCRIBER -> {
        var topic = Topic.open(how());
        topic.subscribeToLatest(m -> code.strike());
        topic.publish("news");
      }
      case FOLLOWER -> ObservableValue.of(how(), 1).subscribe(m -> code.strike());
      case TCP_HANDLER -> connect(TcpAcceptor.open(how(), 0, c -> code.strike(), o -> o).port(), "hello\n");
      case HTTP_HANDLER -> connect(
          HttpServer.open(how(), 0, HttpRoutes.none().text("/", e -> code.strike() + ""), o -> o).port(),
          "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
      default -> victim.sendMessage("message");
    }
  }

  private static void connect(int port, String text) {
    try {
      var socket = new Socket("localhost", port);
      socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    } catch (IOException refused) {
      throw new AssertionError(refused);
    }
  }
}
