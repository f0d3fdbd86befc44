package io.fibry.engine.scope;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.Gate;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.Variants;
import io.fibry.engine.actor.Cells;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.Dispatch;
import io.fibry.engine.cell.OwningScope;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Closes inside closes, on busy threads, and racing actors that are made or sent to. The clock is
 * stopped, so a wait for a limit or grace would hang.
 */
class ScopeCloserCornerTest {
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("outer", o -> o.withScheduler(clock));
  private final List<Object> log = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    clock.advance(Duration.ofDays(1));
  }

  /** Closes; fails if that takes too long. */
  private ActorScope.Report closed(ActorScope which, Duration limit) {
    var report = new CompletableFuture<ActorScope.Report>();
    Patience.startFiber(() -> report.complete(which.closeWithin(limit)));
    return Patience.value(report);
  }

  private Actor<Object> actor(ActorScope where) {
    return where.anonymous().newActor((Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      else log.add(m);
    });
  }

  private static List<Duration> limits() {
    return List.of(Duration.ZERO, Duration.ofDays(1));
  }

  @Promise("16.11")
  @ParameterizedTest
  @MethodSource("limits")
  void anActorMayCloseAtItsEndAScopeMadeAfterIt(Duration limit) {
    var parent = actor(scope);
    var inner = scope.openScope("children");
    parent.closeOnExit(inner);
    var child = actor(inner);

    closed(scope, limit);

    assertTrue(child.onExit().isDone());
  }

  @Promise("16.11")
  @ParameterizedTest
  @MethodSource("limits")
  void anActorMayCloseAtItsEndAScopeMadeBeforeIt(Duration limit) {
    var inner = scope.openScope("children");
    var child = actor(inner);
    actor(scope).closeOnExit(inner);

    closed(scope, limit);

    assertTrue(child.onExit().isDone());
  }

  @Promise("16.11")
  @ParameterizedTest
  @MethodSource("limits")
  void callerThreadActorMayCloseEarlierScopeAtItsEnd(Duration limit) {
    var caller = ActorSystem.openScope("caller", o -> o.withStrategy(Strategy.CALLER).withScheduler(clock));
    var inner = caller.openScope("children");
    var child = actor(inner);
    actor(caller).closeOnExit(inner);

    closed(caller, limit);

    assertTrue(child.onExit().isDone());
  }

  @Promise("16.11")
  @Test
  void aMemberMayCloseAScopeBelowThatIsBeingClosed() {
    var gate = new Gate();
    var inner = scope.openScope("inner");
    var member = scope.anonymous().newActor((Object m) -> {
      gate.pass();
      inner.close();
      log.add("closed");
    });
    member.sendMessage("close");
    Patience.await(gate.entered);
    var report = new CompletableFuture<ActorScope.Report>();
    var closer = Patience.startFiber(() -> report.complete(scope.closeWithin(Duration.ofDays(1))));
    Patience.parked(closer);

    gate.open();

    Patience.value(report);
    assertEquals(List.of("closed"), log);
  }

  @Promise("16.11")
  @Test
  void memberThatClosedItsScopeIsSparedUntilOuterScopeLimit() {
    var inner = scope.openScope("inner");
    var gate = new Gate();
    var interrupted = new CompletableFuture<Boolean>();
    inner.anonymous().newActor((Object m) -> {
      inner.close();
      gate.passDeaf();
      interrupted.complete(Thread.interrupted());
    }).sendMessage("close");
    Patience.await(gate.entered);
    var report = new CompletableFuture<ActorScope.Report>();
    var closer = Patience.startFiber(() -> report.complete(scope.closeWithin(Duration.ofDays(1))));
    Patience.parked(closer);

    gate.open();

    assertFalse(Patience.value(interrupted));
    Patience.value(report);
  }

  @Promise("16.11")
  @Test
  void membersThatCloseTheirScopeAllAtOnceDoNotWaitForOneAnother() {
    var inner = scope.openScope("inner");
    var actors = new ArrayList<Actor<Object>>();
    for (int i = 0; i < 20; i++) actors
        .add((i % 2 == 0 ? scope : inner).anonymous().newActor((Object m) -> scope.closeWithin(Duration.ofDays(1))));

    for (var actor : actors) actor.sendMessage("close");

    actors.forEach(actor -> Patience.ended(actor::waitForExit));
  }

  @Promise("16.3")
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void innerScopesRefuseActorsAfterCloseWithZeroLimit(boolean deep) {
    var inner = scope.openScope("inner");
    var innermost = inner.openScope("innermost");
    actor(innermost);

    closed(scope, Duration.ZERO);

    assertThrows(IllegalStateException.class, () -> actor(deep ? innermost : inner));
  }

  @Promise("16.3")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#strategiesAlone")
  void anActorMadeWhileItsScopeClosesIsRefusedAndDelaysNothing(Variants.Variant variant) {
    for (int round = 0; round < 50; round++) {
      var brief = ActorSystem.openScope("brief", o -> o.withScheduler(clock));
      var made = new ArrayList<Actor<Object>>();
      var maker = Patience.startFiber(() -> makeUntilRefused(brief.anonymous().strategy(variant.strategy()), made));
      if (round % 2 == 0) Thread.yield();

      closed(brief, Duration.ofDays(1));

      Patience.joined(maker);
      for (var actor : made) assertTrue(actor.onExit().isDone());
    }
  }

  /** A closer may have seen the actor, and wait for its end. */
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#strategiesAlone")
  void anActorThatItsScopeRefusedEnds(Variants.Variant variant) {
    var like = (Cell) (Exitable) variant.builder(scope).newActor((Object m) -> {});
    var late = Cells.like(like);
    Dispatch.prepareResident(late);
    closed(scope, Duration.ofDays(1));

    assertThrows(IllegalStateException.class, () -> Cells.admit((OwningScope) scope, "late", late));

    assertEquals(new ExitReason.Stopped(), Patience.value(((Exitable) late).onExit()));
  }

  private static void makeUntilRefused(ActorBuilder<Object> builder, List<Actor<Object>> made) {
    try {
      while (made.size() < 100) made.add(builder.newActor((Object m) -> {}));
    } catch (IllegalStateException closed) {
      return;
    }
  }

  @Promise("16.9")
  @Test
  void callerThreadActorsTooDeepToNestAreStillEnded() {
    var caller = ActorSystem.openScope("caller", o -> o.withStrategy(Strategy.CALLER).withScheduler(clock));
    var last = actor(caller);
    var chain = new ArrayList<Actor<Object>>();
    for (int i = 0; i < 64; i++) {
      int next = i + 1;
      chain.add(caller.anonymous().newActor((Object m) -> {
        if (next < 64) chain.get(next).sendMessage(m);
        else caller.closeWithin(Duration.ofDays(1));
      }));
    }

    Patience.joined(Patience.startFiber(() -> chain.getFirst().sendMessage("close")));

    assertTrue(last.onExit().isDone());
  }

  @Promise("16.9")
  @Test
  void aHandlerThatAnswersInlineMayCloseTheScopeOfItsAsker() {
    var other = actor(scope);
    var closer = scope.anonymous().inlineRequests()
        .newActorWithReturn((Object m) -> scope.closeWithin(Duration.ofDays(1)).scope());
    var asker = scope.anonymous().newActorWithReturn((Object m) -> closer.ask(m));

    assertEquals("outer", Patience.value(asker.sendMessageReturn("close")));

    assertTrue(other.onExit().isDone());
    Patience.ended(asker::waitForExit);
    Patience.ended(closer::waitForExit);
  }

  private static boolean addsUp(ActorScope.Report report) {
    return report.sent() == report.handled() + report.unhandled().values().stream().mapToLong(n -> n).sum();
  }

  @Promise("16.8")
  @ParameterizedTest
  @MethodSource("limits")
  void noMessageIsBegunAfterCloseReturned(Duration limit) {
    for (int round = 0; round < 30; round++) {
      var brief = ActorSystem.openScope("brief", o -> o.withKillGrace(Patience.LONG)); // no handler is cut off
      var inner = brief.openScope("inner");
      var over = new AtomicBoolean();
      var late = new AtomicInteger();
      var actors = new ArrayList<Actor<Object>>();
      for (int i = 0; i < 4; i++) actors.add((i % 2 == 0 ? brief : inner).anonymous().newActor((Object m) -> {
        if (over.get()) late.incrementAndGet();
      }));
      var senders = actors.stream().map(actor -> Patience.startFiber(() -> {
        for (int i = 0; i < 10_000 && actor.sendMessage(i); i++) Thread.onSpinWait();
      })).toList();

      brief.closeWithin(limit);
      over.set(true);

      senders.forEach(Patience::joined);
      assertEquals(0, late.get());
      Patience.eventually("the accounts do not add up", () -> addsUp(brief.report())); // a handler may still be at work
    }
  }

  @Promise("16.15")
  @Test
  void outerScopeForgetsClosedInnerScope() {
    var inner = scope.openScope("inner");
    actor(inner);

    inner.close();

    Patience.eventually(() -> Scopes.members(scope).isEmpty());
  }

  @Promise("16.14")
  @Test
  void theRootEndsWhatItTracksAndStaysOpen() {
    var root = Variants.scope(o -> o.withScheduler(clock));
    var named = root.named("named").newActor((Object m) -> {});
    var anonymous = root.anonymous().newActor((Object m) -> {});
    var below = actor(root.openScope("below"));

    root.close();

    assertTrue(named.onExit().isDone() && below.onExit().isDone());
    assertFalse(anonymous.onExit().isDone());
    root.named("named").newActor((Object m) -> {}).close();
    root.openScope("again").close();
  }
}
