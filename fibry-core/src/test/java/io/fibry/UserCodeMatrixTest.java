package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import io.fibry.testing.Clock;
import io.fibry.testing.Gate;
import io.fibry.testing.Misbehavior;
import io.fibry.testing.Misbehavior.Kind;
import io.fibry.testing.Promise;
import io.fibry.testing.SilencedStdErr;
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
 * Tests each kind of misbehavior at each place where the library calls user code. Other actors must
 * answer, and timers must fire. An ask must end by its limit, and a kill and a close of the scope
 * must return. The first two sets name the exceptions, which docs/semantics.md lists, too.
 */
@ExtendWith(SilencedStdErr.class)
class UserCodeMatrixTest {
  private static final Duration SHORT = Duration.ofMillis(20);

  enum CallSite {
    HANDLER, STATE, STATE_COPY, INTERCEPTOR, TASK, STOP_HOOK, RESOURCE, POLICY, COMPARATOR, WEIGHT, KEY,
    MESSAGE_TEXT, CONTEXT_CAPTURE, CONTEXT_RESTORE, STRATEGY, CLOCK, LISTENER, REQUEST_CALLBACK, EXIT_CALLBACK,
    EXIT_MESSAGE, ENTITY_FACTORY, PIPELINE_STAGE, PRODUCER, SUBSCRIBER, OBSERVER, TCP_HANDLER, HTTP_HANDLER
  }

  /** Calls on the thread of the asker: code that hangs there blocks the asker. */
  private static final Set<CallSite> BLOCKS_ASKER =
      EnumSet.of(CallSite.COMPARATOR, CallSite.WEIGHT, CallSite.KEY, CallSite.CONTEXT_CAPTURE,
          CallSite.STRATEGY, CallSite.CLOCK);

  /** Calls that a kill or a close makes, too: code that hangs there blocks the end of the actor. */
  private static final Set<CallSite> BLOCKS_EXIT = EnumSet.of(CallSite.COMPARATOR, CallSite.STRATEGY, CallSite.CLOCK);

  /** Calls that are made for all actors of the scope. */
  private static final Set<CallSite> CALLED_BY_SCOPE =
      EnumSet.of(CallSite.CONTEXT_CAPTURE, CallSite.CONTEXT_RESTORE, CallSite.CLOCK);

  /** Calls that are made because an actor ends. */
  private static final Set<CallSite> CALLED_AT_EXIT =
      EnumSet.of(CallSite.LISTENER, CallSite.STOP_HOOK, CallSite.RESOURCE, CallSite.EXIT_CALLBACK,
          CallSite.EXIT_MESSAGE);

  private final Gate gate = new Gate();
  private Misbehavior code;
  private ActorScope scope;

  static Stream<Arguments> all() {
    return Stream.of(CallSite.values())
        .flatMap(site -> Stream.of(Kind.values()).map(kind -> Arguments.of(site, kind)));
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
  void misbehavingUserCodeBlocksNeitherOtherActorsNorExit(CallSite site, Kind kind) throws Exception {
    code = new Misbehavior(kind);
    scope = ActorSystem.openScope("bad", options -> options(options.withKillGrace(SHORT), site));
    var victim = victim(site);
    code.arm();
    if (CALLED_AT_EXIT.contains(site)) victim.askExit();
    else Patience.startFiber(() -> trigger(site, victim));
    gate.open();
    Patience.await(code.struck);

    try (var otherScope = ActorSystem.openScope("other")) {
      assertWorks(otherScope);
    }
    if (!CALLED_BY_SCOPE.contains(site)) assertWorks(scope);
    if (!BLOCKS_ASKER.contains(site) || !code.hangs()) assertAskEnds(victim);
    if (!BLOCKS_EXIT.contains(site) || !code.hangs()) {
      assertReturns("kill", victim::kill);
      Patience.awaitEnd(victim::waitForExit);
      assertReturns("close", () -> scope.closeWithin(SHORT));
    }
  }

  static Stream<Arguments> cutOffCases() {
    return Stream.of(CallSite.REQUEST_CALLBACK, CallSite.EXIT_CALLBACK, CallSite.EXIT_MESSAGE, CallSite.MESSAGE_TEXT)
        .flatMap(site -> Stream.of(Kind.values()).map(kind -> Arguments.of(site, kind)));
  }

  /**
   * Attaches the misbehaving code first. A kill must nevertheless notify the asker and the watcher
   * that are attached after it.
   */
  @ParameterizedTest
  @MethodSource("cutOffCases")
  void cutOffNotifiesAskerAndWatcherDespiteMisbehavingCode(CallSite site, Kind kind) {
    code = new Misbehavior(kind);
    scope = ActorSystem.openScope("bad", options -> options.withKillGrace(SHORT));
    var actor = builder().newActorWithReturn((Object m) -> {
      gate.passUninterruptibly();
      return m;
    });
    var currentRequest = actor.sendMessageReturn(site == CallSite.MESSAGE_TEXT ? new MisbehavingText() : "handled");
    Patience.await(gate.entered);
    var queuedRequest = actor.sendMessageReturn(site == CallSite.MESSAGE_TEXT ? new MisbehavingText() : "waits");
    switch (site) {
      case REQUEST_CALLBACK -> List.of(currentRequest, queuedRequest)
          .forEach(request -> request.whenComplete((value, failure) -> code.strike()));
      case EXIT_CALLBACK -> actor.onExit().whenComplete((reason, cause) -> code.strike());
      case EXIT_MESSAGE -> watch(actor, code::strike);
      default -> {}
    }
    code.arm();
    var laterRequest = actor.sendMessageReturn("behind");
    var watcherNotified = new CountDownLatch(1);
    watch(actor, watcherNotified::countDown);

    assertReturns("kill", actor::kill);

    Patience.awaitEnd(actor::waitForExit);
    Patience.await(watcherNotified);
    assertInstanceOf(ActorStoppedException.class, Patience.failure(laterRequest));
    if (site != CallSite.MESSAGE_TEXT) Patience.await(code.struck);
  }

  private void watch(Exitable target, Runnable onEnd) {
    builder().newActorWithReturn((Object m, ActorContext<Object> context) -> {
      context.watch(target, reason -> {
        onEnd.run();
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
    scope = ActorSystem.openScope("bad", o -> o.withKillGrace(SHORT).withDeadLetterListener(letter -> code.strike()));
    var actor = (pool ? Pools.fixed(builder(), 1) : builder()).newActorWithReturn(this::awaitGateIfHold);
    actor.sendMessage("hold");
    Patience.await(gate.entered);
    actor.sendMessage("becomes a dead letter");
    var laterRequest = actor.sendMessageReturn("behind");

    assertReturns("askExit", actor::askExit);
    gate.open();

    assertInstanceOf(ActorStoppedException.class, Patience.failure(laterRequest));
    Patience.await(code.struck);
    assertReturns("kill", actor::kill);
    Patience.awaitEnd(actor::waitForExit);
  }

  private static void assertReturns(String operation, Runnable call) {
    assertTrue(join(Thread.ofPlatform().daemon().start(call)), () -> operation + " hangs");
  }

  private static boolean join(Thread thread) {
    try {
      return thread.join(Patience.LONG);
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }

  private static void assertWorks(ActorScope scope) {
    var neighbor = scope.anonymous().newActorWithReturn((Integer i) -> i + 1);
    assertEquals(2, neighbor.ask(1, Patience.LONG));
    var fired = new CountDownLatch(1);
    scope.anonymous().newActor((Integer i) -> fired.countDown()).sendMessageLater(1, Duration.ofMillis(1));
    Patience.await(fired);
  }

  private void assertAskEnds(ActorWithReturn<Object, Object> victim) {
    assertReturns("ask", () -> {
      try {
        victim.ask("limit", SHORT);
      } catch (Throwable ignored) {}
    });
  }

  private ActorScope.Options options(ActorScope.Options options, CallSite site) {
    return switch (site) {
      case CONTEXT_CAPTURE -> options.withContextPropagator(contextPropagator(code::strike, () -> {}));
      case CONTEXT_RESTORE -> options.withContextPropagator(contextPropagator(() -> {}, code::strike));
      case LISTENER -> options.withDeadLetterListener(letter -> code.strike());
      case CLOCK -> options.withScheduler(clock());
      default -> options;
    };
  }

  private static ContextPropagator<Integer> contextPropagator(Runnable capture, Runnable restore) {
    return new ContextPropagator<>() {
      @Override
      public Integer capture() {
        capture.run();
        return 1;
      }

      @Override
      public AutoCloseable restore(Integer captured) {
        restore.run();
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

  private ActorBuilder<Object> builder() {
    return scope.anonymous().onFailure(FailurePolicy.resume().withoutLog());
  }

  private static Object echo(Object message) {
    return message;
  }

  /** Creates an actor that calls the misbehaving code. */
  private ActorWithReturn<Object, Object> victim(CallSite site) throws Exception {
    return switch (site) {
      case HANDLER -> builder().newActorWithReturn((Object m) -> code.strike());
      case STATE -> builder().initialState(code::strike).newActorWithReturn((Boolean s, Object m) -> m);
      case STATE_COPY -> builder().initialState(() -> 1).rollback(s -> code.strike() ? s : 0)
          .newActorWithReturn((Integer s, Object m) -> m);
      case INTERCEPTOR -> builder().<Object>intercept((m, next) -> {
        code.strike();
        next.run();
      }).newActorWithReturn(UserCodeMatrixTest::echo);
      case STOP_HOOK -> {
        var actor =
            builder().initialState(() -> 1).onStop(s -> code.strike()).newActorWithReturn((Integer s, Object m) -> m);
        actor.ask("state");
        yield actor;
      }
      case RESOURCE -> {
        var actor = builder().newActorWithReturn(UserCodeMatrixTest::echo);
        actor.closeOnExit(code::strike);
        yield actor;
      }
      case POLICY -> builder()
          .onFailure(FailurePolicy.choose(failure -> code.strike() ? FailurePolicy.resume() : FailurePolicy.stop()))
          .newActorWithReturn((Object m) -> {
            throw new IllegalStateException("planned");
          });
      case COMPARATOR -> builder().mailbox(Mailbox.priority((a, b) -> code.strike() ? 0 : 1))
          .newActorWithReturn(this::awaitGateIfHold);
      case WEIGHT -> Pools.weighted(builder(), 2, (Object m) -> code.strike() ? 1 : 2)
          .newActorWithReturn(UserCodeMatrixTest::echo);
      case KEY -> Pools.byKey(builder(), 2, (Object m) -> code.strike()).newActorWithReturn(UserCodeMatrixTest::echo);
      case MESSAGE_TEXT -> scope.anonymous().newActorWithReturn((Object m) -> {
        throw new IllegalStateException("planned");
      });
      case STRATEGY -> builder().strategy(activation -> {
        code.strike();
        Thread.startVirtualThread(activation);
      }).newActorWithReturn(UserCodeMatrixTest::echo);
      case EXIT_CALLBACK -> {
        var actor = builder().newActorWithReturn(UserCodeMatrixTest::echo);
        actor.onExit().whenComplete((reason, cause) -> code.strike());
        yield actor;
      }
      case EXIT_MESSAGE -> {
        var actor = builder().newActorWithReturn(UserCodeMatrixTest::echo);
        watch(actor, code::strike);
        yield actor;
      }
      case LISTENER -> {
        var actor = builder().newActorWithReturn(this::awaitGateIfHold);
        actor.sendMessage("hold");
        actor.sendMessage("becomes a dead letter");
        yield actor;
      }
      default -> builder().newActorWithReturn(UserCodeMatrixTest::echo);
    };
  }

  /** Waits at the message "hold", so that the next messages stay in the mailbox. */
  private Object awaitGateIfHold(Object message) throws InterruptedException {
    if (message.equals("hold")) gate.pass();
    return message;
  }

  /** A message whose toString calls the misbehaving code. */
  private final class MisbehavingText {
    @Override
    public String toString() {
      return code.strike() + "";
    }
  }

  private void trigger(CallSite site, ActorWithReturn<Object, Object> victim) {
    switch (site) {
      case TASK -> victim.execute(code::strike);
      case COMPARATOR -> {
        for (var m : List.of("hold", 1, 2, 3)) victim.sendMessage(m);
      }
      case MESSAGE_TEXT -> victim.sendMessageReturn(new MisbehavingText());
      case CLOCK -> victim.sendMessageLater("later", Duration.ofMillis(1));
      case REQUEST_CALLBACK -> victim.sendMessageReturn("asked").whenComplete((value, failure) -> code.strike());
      case ENTITY_FACTORY -> Entities
          .open(builder(), SHORT, (entity, key) -> code.strike() ? entity.newActor((Object m) -> {}) : null)
          .actor("key").sendMessage("hello");
      case PIPELINE_STAGE -> Pipeline.of(builder(), (Object m) -> code.strike()).into(m -> {}).sendMessage("in");
      case PRODUCER -> Generator.<Object>of(builder(), 1, out -> code.strike()).iterator().hasNext();
      case SUBSCRIBER -> {
        var topic = Topic.open(builder());
        topic.subscribeToLatest(m -> code.strike());
        topic.publish("news");
      }
      case OBSERVER -> ObservableValue.of(builder(), 1).subscribe(m -> code.strike());
      case TCP_HANDLER -> connect(TcpAcceptor.open(builder(), 0, c -> code.strike(), o -> o).port(), "hello\n");
      case HTTP_HANDLER -> connect(
          HttpServer.open(builder(), 0, HttpRoutes.none().text("/", e -> code.strike() + ""), o -> o).port(),
          "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
      default -> victim.sendMessage("message");
    }
  }

  private static void connect(int port, String text) {
    try {
      var socket = new Socket("localhost", port);
      socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    } catch (IOException failure) {
      throw new AssertionError(failure);
    }
  }
}
