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
import io.fibry.Strategy;
import io.fibry.engine.actor.Cells;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.OwningScope;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
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
 * Tests scopes that are closed during the close of another scope or on busy threads, and closes
 * that race with new actors and messages. The clock does not advance, so a close that waits for its
 * limit or the kill grace would hang.
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

  /** Closes the scope, and fails if the close takes too long. */
  private ActorScope.Report closePromptly(ActorScope owner, Duration limit) {
    return Patience.value(Patience.callOnFiber(() -> owner.closeWithin(limit)));
  }

  private Actor<Object> actor(ActorScope owner) {
    return owner.anonymous().newActor((Object m) -> {
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
  void closeOnExitOfMemberMayCloseInnerScopeOpenedAfterIt(Duration limit) {
    var parent = actor(scope);
    var innerScope = scope.openScope("children");
    parent.closeOnExit(innerScope);
    var child = actor(innerScope);

    closePromptly(scope, limit);

    assertTrue(child.onExit().isDone());
  }

  @Promise("16.11")
  @ParameterizedTest
  @MethodSource("limits")
  void closeOnExitOfMemberMayCloseInnerScopeOpenedBeforeIt(Duration limit) {
    var innerScope = scope.openScope("children");
    var child = actor(innerScope);
    actor(scope).closeOnExit(innerScope);

    closePromptly(scope, limit);

    assertTrue(child.onExit().isDone());
  }

  @Promise("16.11")
  @ParameterizedTest
  @MethodSource("limits")
  void closeOnExitOfCallerStrategyActorMayCloseEarlierScope(Duration limit) {
    var callerScope = ActorSystem.openScope("caller", o -> o.withStrategy(Strategy.CALLER).withScheduler(clock));
    var innerScope = callerScope.openScope("children");
    var child = actor(innerScope);
    actor(callerScope).closeOnExit(innerScope);

    closePromptly(callerScope, limit);

    assertTrue(child.onExit().isDone());
  }

  @Promise("16.11")
  @Test
  void memberMayCloseInnerScopeThatIsBeingClosed() {
    var gate = new Gate();
    var innerScope = scope.openScope("inner");
    var member = scope.anonymous().newActor((Object m) -> {
      gate.pass();
      innerScope.close();
      log.add("closed");
    });
    member.sendMessage("close");
    Patience.await(gate.entered);
    var report = new CompletableFuture<ActorScope.Report>();
    var closer = Patience.startFiber(() -> scope.closeWithin(Duration.ofDays(1)), report);
    Patience.awaitParked(closer);

    gate.open();

    Patience.value(report);
    assertEquals(List.of("closed"), log);
  }

  @Promise("16.11")
  @Test
  void memberThatClosedInnerScopeMayRunUntilOuterCloseLimit() {
    var innerScope = scope.openScope("inner");
    var gate = new Gate();
    var interrupted = new CompletableFuture<Boolean>();
    innerScope.anonymous().newActor((Object m) -> {
      innerScope.close();
      gate.passUninterruptibly();
      interrupted.complete(Thread.interrupted());
    }).sendMessage("close");
    Patience.await(gate.entered);
    var report = new CompletableFuture<ActorScope.Report>();
    var closer = Patience.startFiber(() -> scope.closeWithin(Duration.ofDays(1)), report);
    Patience.awaitParked(closer);

    gate.open();

    assertFalse(Patience.value(interrupted));
    Patience.value(report);
  }

  @Promise("16.11")
  @Test
  void membersThatCloseScopeTogetherDoNotWaitForEachOther() {
    var innerScope = scope.openScope("inner");
    var actors = new ArrayList<Actor<Object>>();
    for (int i = 0; i < 20; i++) actors.add((i % 2 == 0 ? scope : innerScope).anonymous()
        .newActor((Object m) -> scope.closeWithin(Duration.ofDays(1))));

    for (var actor : actors) actor.sendMessage("close");

    actors.forEach(actor -> Patience.awaitEnd(actor::waitForExit));
  }

  @Promise("16.3")
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void innerScopesRefuseActorsAfterOuterCloseWithZeroLimit(boolean atInnermost) {
    var innerScope = scope.openScope("inner");
    var innermostScope = innerScope.openScope("innermost");
    actor(innermostScope);

    closePromptly(scope, Duration.ZERO);

    assertThrows(IllegalStateException.class, () -> actor(atInnermost ? innermostScope : innerScope));
  }

  @Promise("16.3")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#strategiesAlone")
  void actorCreatedDuringCloseIsRefusedAndDelaysNoClose(Variants.Variant variant) {
    for (int round = 0; round < 50; round++) {
      var shortScope = ActorSystem.openScope("brief", o -> o.withScheduler(clock));
      var actors = new ArrayList<Actor<Object>>();
      var creator =
          Patience.startFiber(() -> createUntilRefused(shortScope.anonymous().strategy(variant.strategy()), actors));
      if (round % 2 == 0) Thread.yield();

      closePromptly(shortScope, Duration.ofDays(1));

      Patience.awaitEnd(creator);
      for (var actor : actors) assertTrue(actor.onExit().isDone());
    }
  }

  /**
   * The closed scope refuses the actor. The actor must end nevertheless, because the thread that
   * closes the scope may have seen the actor and may wait for its end.
   */
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#strategiesAlone")
  void actorRefusedByClosedScopeEnds(Variants.Variant variant) {
    var template = (Cell) (Exitable) variant.builder(scope).newActor((Object m) -> {});
    var refusedActor = Cells.newCellLike(template);
    refusedActor.prepareResident();
    closePromptly(scope, Duration.ofDays(1));

    assertThrows(IllegalStateException.class, () -> Cells.admit((OwningScope) scope, "late", refusedActor));

    assertEquals(new ExitReason.Stopped(), Patience.value(((Exitable) refusedActor).onExit()));
  }

  private static void createUntilRefused(ActorBuilder<Object> builder, List<Actor<Object>> actors) {
    try {
      while (actors.size() < 100) actors.add(builder.newActor((Object m) -> {}));
    } catch (IllegalStateException expected) {
      return;
    }
  }

  @Promise("16.9")
  @Test
  void closeCalledByDeeplyNestedHandlersEndsOtherActors() {
    var callerScope = ActorSystem.openScope("caller", o -> o.withStrategy(Strategy.CALLER).withScheduler(clock));
    var bystander = actor(callerScope);
    var chain = new ArrayList<Actor<Object>>();
    for (int i = 0; i < 64; i++) {
      int next = i + 1;
      chain.add(callerScope.anonymous().newActor((Object m) -> {
        if (next < 64) chain.get(next).sendMessage(m);
        else callerScope.closeWithin(Duration.ofDays(1));
      }));
    }

    Patience.awaitEnd(Patience.startFiber(() -> chain.getFirst().sendMessage("close")));

    assertTrue(bystander.onExit().isDone());
  }

  @Promise("16.9")
  @Test
  void inlineHandlerMayCloseScopeOfItsAsker() {
    var bystander = actor(scope);
    var closer = scope.anonymous().inlineRequests()
        .newActorWithReturn((Object m) -> scope.closeWithin(Duration.ofDays(1)).scope());
    var asker = scope.anonymous().newActorWithReturn((Object m) -> closer.ask(m));

    assertEquals("outer", Patience.value(asker.sendMessageReturn("close")));

    assertTrue(bystander.onExit().isDone());
    Patience.awaitEnd(asker::waitForExit);
    Patience.awaitEnd(closer::waitForExit);
  }

  private static boolean isBalanced(ActorScope.Report report) {
    return report.sent() == report.handled() + report.unhandled().values().stream().mapToLong(n -> n).sum();
  }

  @Promise("16.8")
  @ParameterizedTest
  @MethodSource("limits")
  void noHandlerBeginsAfterCloseReturned(Duration limit) {
    for (int round = 0; round < 30; round++) {
      // the kill grace is so long that no handler is cut off
      var shortScope = ActorSystem.openScope("brief", o -> o.withKillGrace(Patience.LONG));
      var innerScope = shortScope.openScope("inner");
      var closeReturned = new AtomicBoolean();
      var lateHandlers = new AtomicInteger();
      var actors = new ArrayList<Actor<Object>>();
      for (int i = 0; i < 4; i++) actors.add((i % 2 == 0 ? shortScope : innerScope).anonymous().newActor((Object m) -> {
        if (closeReturned.get()) lateHandlers.incrementAndGet();
      }));
      var senders = actors.stream().map(actor -> Patience.startFiber(() -> {
        for (int i = 0; i < 10_000 && actor.sendMessage(i); i++) Thread.onSpinWait();
      })).toList();

      shortScope.closeWithin(limit);
      closeReturned.set(true);

      senders.forEach(Patience::awaitEnd);
      assertEquals(0, lateHandlers.get());
      // a handler that began before the close returned may still run
      Patience.eventually("the report is not balanced", () -> isBalanced(shortScope.report()));
    }
  }

  @Promise("16.15")
  @Test
  void outerScopeForgetsClosedInnerScope() {
    var innerScope = scope.openScope("inner");
    actor(innerScope);

    innerScope.close();

    Patience.eventually(() -> Scopes.members(scope).isEmpty());
  }

  @Promise("16.14")
  @Test
  void closeOfRootScopeEndsNamedActorsAndRootStaysOpen() {
    var root = Variants.scope(o -> o.withScheduler(clock));
    var namedActor = root.named("named").newActor((Object m) -> {});
    var anonymousActor = root.anonymous().newActor((Object m) -> {});
    var innerActor = actor(root.openScope("below"));

    root.close();

    assertTrue(namedActor.onExit().isDone() && innerActor.onExit().isDone());
    assertFalse(anonymousActor.onExit().isDone());
    root.named("named").newActor((Object m) -> {}).close();
    root.openScope("again").close();
  }
}
