package io.fibry.engine.scope;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.engine.cell.ActorInternals;
import io.fibry.mailbox.Mailbox;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests which actors a scope restarts when an actor escalates. {@link ScopeEscalationTest} tests
 * the other decisions of a scope.
 */
class ScopePolicyTest extends EscalationFixture {
  @Promise("17.10")
  @Test
  void restartPolicyRestartsOnlyFailedActor() {
    try (var scope = scope(FailurePolicy.restart())) {
      actor(scope, "a");
      var b = actor(scope, "b");
      actor(scope, "c");

      fail(scope, b);

      assertEquals(List.of("stop b"), log);
      b.sendMessage("on");
      awaitQuiescence(scope);
      assertEquals("b2 on", log.getLast());
    }
  }

  @Promise("17.10")
  @Test
  void restartAllAlsoRestartsIdleActors() {
    try (var scope = scope(FailurePolicy.restartAll())) {
      var a = actor(scope, "a");
      var b = actor(scope, "b");
      var innerActor = actor(scope.openScope("inner"), "below");

      fail(scope, b);

      assertEquals(List.of("stop a", "stop b", "stop below"), log.stream().sorted().toList());
      for (var actor : List.of(a, b, innerActor)) actor.sendMessage("on");
      awaitQuiescence(scope);
      assertEquals(List.of("a2 on", "b2 on", "below2 on"), log.subList(3, 6).stream().sorted().toList());
    }
  }

  @Promise("17.10")
  @Test
  void restartAllRestartsActorsInCreationOrder() {
    // with Strategy.CALLER each actor restarts on the thread that notifies it, so the log shows the
    // order of the notifications
    var caller = ActorSystem.openScope("supervised",
        o -> o.withFailurePolicy(FailurePolicy.restartAll()).withStrategy(Strategy.CALLER));
    try (caller) {
      var first = actor(caller, "first");
      actor(caller, "a");
      actor(caller.openScope("inner"), "b");
      actor(caller, "c");

      first.sendMessage(new IOException("planned"));

      assertEquals(List.of("stop a", "stop b", "stop c", "stop first"), log);
    }
  }

  @Promise("17.10")
  @Test
  void restartFromFailedRestartsFailedAndYoungerActors() {
    try (var scope = scope(FailurePolicy.restartFromFailed())) {
      actor(scope, "a");
      var b = actor(scope, "b");
      actor(scope, "c");

      fail(scope, b);

      assertEquals(List.of("stop b", "stop c"), log.stream().sorted().toList());
    }
  }

  @Promise("17.10")
  @Test
  void childScopeRestartsAsOneMember() {
    for (var policy : List.of(FailurePolicy.restart(), FailurePolicy.restartFromFailed())) {
      log.clear();
      try (var scope = scope(policy)) {
        actor(scope, "a");
        var inner = scope.openScope("inner", o -> o.withFailurePolicy(FailurePolicy.escalate()));
        var b = actor(inner, "b");
        actor(inner, "c");
        actor(scope, "d");

        awaitQuiescence(scope);
        fail(scope, b);

        var stopHooks = log.stream().sorted().toList();
        assertEquals(policy.kind() == FailurePolicy.Kind.RESTART ? List.of("stop b", "stop c")
            : List.of("stop b", "stop c", "stop d"), stopHooks);
      }
    }
  }

  @Test
  void anonymousActorOfRootScopeIsRestartedAlone() {
    var root = Variants.scope(o -> o.withFailurePolicy(FailurePolicy.restartFromFailed()));
    actor(root, "named");
    var anonymous = actor(root.anonymous(), "anonymous");

    fail(root, anonymous);

    Patience.eventually(() -> !log.isEmpty());
    awaitQuiescence(root);
    assertEquals(List.of("stop anonymous"), log);
  }

  @Promise("17.11")
  @Test
  void siblingFinishesMessageUninterruptedBeforeItRestarts() {
    try (var scope = scope(FailurePolicy.restartAll())) {
      var a = actor(scope, "a");
      var b = actor(scope, "b");
      var isInterrupted = new AtomicBoolean();
      var gate = new Gate();
      a.execute(() -> {
        gate.passUninterruptibly();
        isInterrupted.set(Thread.interrupted());
        log.add("a returns");
      });
      Patience.await(gate.entered);
      a.sendMessage("next");
      b.sendMessage(new IOException("planned"));
      Patience.eventually(() -> log.contains("stop b"));

      gate.open();

      awaitQuiescence(scope);
      assertEquals(List.of("stop b", "a returns", "stop a", "a2 next"), log);
      assertFalse(isInterrupted.get());
    }
  }

  @Promise("17.11")
  @Test
  void stashedMessagesOfRestartedSiblingPrecedeQueuedOnes() {
    try (var scope = scope(FailurePolicy.restartAll())) {
      var states = new AtomicInteger();
      var a = scope.anonymous().mailbox(Mailbox.unbounded().selective()).initialState(states::incrementAndGet)
          .newActor((Integer state, Object m, ActorContext<Object> context) -> {
            if (m instanceof Gate gate) gate.pass();
            else if (state == 1) context.stash();
            else log.add(m);
          });
      var b = actor(scope, "b");
      a.sendMessage(1);
      a.sendMessage(2);
      var gate = Gate.occupy(a);
      a.sendMessage(3);
      a.sendMessage(4);
      fail(b);

      gate.open();

      awaitQuiescence(scope);
      assertEquals(List.of("stop b", 1, 2, 3, 4), log);
    }
  }

  private void fail(Actor<Object> actor) {
    actor.sendMessage(new IOException("planned"));
    Patience.eventually(() -> log.contains("stop b"));
  }

  @Promise("17.10")
  @Test
  void scopeBackoffAppliesToAllRestartedActors() {
    var scope = ActorSystem.openScope("supervised", o -> o.withScheduler(clock)
        .withFailurePolicy(FailurePolicy.restartAll().withBackoff(Duration.ofSeconds(1), Duration.ofSeconds(1))));
    var a = actor(scope, "a");
    var b = actor(scope, "b");
    awaitQuiescence(scope);
    b.sendMessage(new IOException("planned"));
    Patience.eventually(() -> ActorInternals.isSuspended(a) && ActorInternals.isSuspended(b));
    a.sendMessage("on");
    b.sendMessage("on");

    clock.advance(Duration.ofSeconds(1));

    awaitQuiescence(scope);
    assertEquals(List.of("a2 on", "b2 on"), log.subList(2, 4).stream().sorted().toList());
    scope.close();
  }

  @Promise("17.10")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void restartAllRestartsActorsOfEachStrategyAndMailbox(Variants.Variant variant) {
    try (var scope = scope(FailurePolicy.restartAll())) {
      var a = actor(variant.builder(scope), "a");
      var b = actor(variant.builder(scope), "b");
      awaitQuiescence(scope);

      fail(scope, b);
      a.sendMessage("on");
      awaitQuiescence(scope);

      assertEquals(List.of("a2 on", "stop a", "stop b"), log.stream().sorted().toList());
    }
  }
}
