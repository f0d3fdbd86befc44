package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.engine.scope.Scopes;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Gate;
import io.fibry.testing.LeakProbe;
import io.fibry.testing.Promise;
import io.fibry.time.ManualScheduler;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the members and the options of a scope. {@code ScopeCloseTest} tests its close. */
class ScopeTest {
  private final List<Object> log = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  @Promise("16.1")
  @Test
  void scopeEndsItsActorsAtEndOfTryBlock() {
    Actor<String> actor;
    try (var scope = ActorSystem.openScope("block", o -> o.withDrainLimit(Patience.LONG))) {
      actor = scope.anonymous().newActor((String m) -> log.add(m));
      actor.sendMessage("a");
    }

    assertEquals(List.of("a"), log);
    assertTrue(actor.onExit().isDone());
  }

  @Test
  void rootScopeIsSingletonNamedRoot() {
    assertSame(ActorSystem.root(), ActorSystem.root());
    assertEquals("root", ActorSystem.root().name());
  }

  @Promise("16.2")
  @Test
  void nameIsUniqueOnlyWithinItsScope() {
    try (var scope = ActorSystem.openScope("outer"); var inner = scope.openScope("inner")) {
      scope.named("clerk").newActor((Object m) -> {});
      inner.named("clerk").newActor((Object m) -> {});

      assertThrows(IllegalArgumentException.class, () -> inner.named("clerk").newActor((Object m) -> {}));
    }
  }

  @Promise("16.2")
  @Test
  void siblingScopesMayHaveSameName() {
    try (var scope = ActorSystem.openScope("outer")) {
      var a = scope.openScope("twin");
      var b = scope.openScope("twin");

      assertNotSame(a, b);
      assertEquals(a.name(), b.name());
      assertThrows(IllegalArgumentException.class, () -> scope.openScope(" "));
    }
  }

  @Promise("16.2")
  @Test
  void scopeFindsOnlyItsOwnActors() {
    try (var scope = ActorSystem.openScope("outer"); var inner = scope.openScope("inner")) {
      var clerk = inner.named("clerk").protocol(String.class).newActor((String m) -> {});

      assertEquals(Optional.of(clerk), inner.find("clerk", String.class));
      assertEquals(Optional.empty(), scope.find("clerk", String.class));
      assertEquals(Optional.empty(), ActorSystem.find("clerk", String.class));
    }
  }

  @Promise("16.3")
  @Test
  void actorRefusedByClosedScopeIsNotFoundByName() {
    var scope = ActorSystem.openScope("closed");
    scope.close();
    assertThrows(IllegalStateException.class,
        () -> scope.named("late").protocol(String.class).newActor((String m) -> {}));

    assertEquals(Optional.empty(), scope.find("late", String.class));
  }

  @Promise("16.1")
  @Test
  void childScopeInheritsUnsetOptionsFromParent() {
    var clock = new ManualScheduler();
    try (var outer = ActorSystem.openScope("outer", o -> o.withStrategy(Strategy.CALLER).withScheduler(clock)
        .withAskLimit(Duration.ofSeconds(3)).withMailbox(Mailbox.bounded(1, Overflow.REJECT)))) {
      var inner = outer.openScope("inner", o -> o.withKillGrace(Duration.ZERO));

      assertEquals(List.of(Strategy.CALLER, clock, Duration.ofSeconds(3), Duration.ZERO), List
          .of(Scopes.options(inner).strategy(), Scopes.options(inner).scheduler(), Scopes.options(inner).askLimit(),
              Scopes.options(inner).killGrace()));
      assertEquals(BlockBuilder.of(outer.anonymous()).mailbox(), BlockBuilder.of(inner.anonymous()).mailbox());
      assertSame(Strategy.CALLER, BlockBuilder.of(inner.anonymous()).strategy());
    }
  }

  @Promise("16.1")
  @Test
  void childScopeOptionsLeaveParentUnchanged() {
    try (var outer = ActorSystem.openScope("outer")) {
      outer.openScope("inner", o -> o.withStrategy(Strategy.THREAD));

      assertSame(Strategy.FIBER, BlockBuilder.of(outer.anonymous()).strategy());
    }
  }

  @Test
  void invalidOptionsAreRefused() {
    assertThrows(IllegalArgumentException.class,
        () -> ActorSystem.openScope("no", o -> o.withDrainLimit(Duration.ofSeconds(-1))));
    assertThrows(IllegalArgumentException.class,
        () -> ActorSystem.openScope("no", o -> o.withKillGrace(Duration.ofSeconds(-1))));
    assertThrows(IllegalArgumentException.class, () -> ActorSystem.openScope("no", o -> o.withAskLimit(Duration.ZERO)));
    assertThrows(IllegalArgumentException.class,
        () -> ActorSystem.openScope("no", o -> o.withWatchdog(Duration.ZERO, 1)));
    assertThrows(IllegalArgumentException.class,
        () -> ActorSystem.openScope("no", o -> o.withWatchdog(Duration.ofSeconds(1), 0)));
    assertThrows(NullPointerException.class, () -> ActorSystem.openScope("no", o -> null));
    assertThrows(IllegalArgumentException.class, () -> ActorSystem.root().closeWithin(Duration.ofSeconds(-1)));
    assertThrows(IllegalArgumentException.class, () -> ActorSystem.root().awaitQuiescence(Duration.ofSeconds(-1)));
  }

  @Promise("16.1")
  @Test
  void closeOfActorThatOwnsScopeEndsActorsOfScope() {
    try (var scope = ActorSystem.openScope("outer", o -> o.withDrainLimit(Patience.LONG))) {
      var child = new CompletableFuture<Actor<Object>>();
      var parent = scope.anonymous().initialState(() -> scope.openScope("children")).onStop(ActorScope::close)
          .newActor((ActorScope children, Object m) -> {
            child.complete(children.anonymous().newActor((Object message) -> log.add(message)));
          });
      parent.sendMessage("make one");
      Patience.value(child).sendMessage("a");

      parent.close();

      assertTrue(Patience.value(child).onExit().isDone());
      assertEquals(List.of("a"), log);
    }
  }

  // ---- memory

  @Promise("16.15")
  @Test
  void closedScopesLeaveNoMemory() {
    int scopes = Soak.ON ? 250_000 : 50_000;
    openAndClose(10_000);

    LeakProbe.assertLeavesAtMost(8L * scopes, () -> openAndClose(scopes)); // 8 bytes are less than one object per scope
  }

  private static void openAndClose(int times) {
    for (int i = 0; i < times; i++) {
      var scope = ActorSystem.openScope("short", i % 100 == 0 ? o -> o.withWatchdog(Duration.ofHours(1), 10) : o -> o);
      if (i % 100 == 0) scope.openScope("below").named("clerk").newActor((Object m) -> {}).sendMessage(i);
      scope.close();
    }
  }

  @Promise("16.15")
  @Test
  void scopeForgetsEndedActors() {
    try (var scope = ActorSystem.openScope("long")) {
      var probes = new ArrayList<WeakReference<?>>();
      for (int i = 0; i < 100; i++) probes.add(probeOfEndedActor(scope, i));

      assertTrue(LeakProbe.collected(probes));
      assertTrue(Scopes.members(scope).isEmpty());
    }
  }

  private static WeakReference<?> probeOfEndedActor(ActorScope scope, int i) {
    var actor = (i % 2 == 0 ? scope.anonymous() : scope.named("clerk" + i)).newActor((Object m) -> {});
    actor.sendMessage(i);
    // an undelivered message would become a dead letter, which keeps its actor in memory
    scope.awaitQuiescence(Patience.LONG);
    if (i % 3 == 0) actor.kill();
    else actor.close();
    Patience.awaitEnd(actor::waitForExit);
    Patience.eventually(() -> !Scopes.members(scope).contains(actor));
    return new WeakReference<>(actor);
  }
}
