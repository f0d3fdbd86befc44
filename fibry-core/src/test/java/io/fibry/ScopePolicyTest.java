package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.fibry.engine.cell.Inside;
import io.fibry.mailbox.Mailbox;
import io.fibry.support.Patience;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Which actors a scope restarts when one escalates. Its other choices: {@link ScopeEscalationTest}.
 */
class ScopePolicyTest extends Escalating {
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
      quiet(scope);
      assertEquals("b2 on", log.getLast());
    }
  }

  @Promise("17.10")
  @Test
  void restartAllAlsoRestartsIdleActors() {
    try (var scope = scope(FailurePolicy.restartAll())) {
      var a = actor(scope, "a");
      var b = actor(scope, "b");
      var below = actor(scope.openScope("inner"), "below");

      fail(scope, b);

      assertEquals(List.of("stop a", "stop b", "stop below"), log.stream().sorted().toList());
      for (var actor : List.of(a, b, below)) actor.sendMessage("on");
      quiet(scope);
      assertEquals(List.of("a2 on", "b2 on", "below2 on"), log.subList(3, 6).stream().sorted().toList());
    }
  }

  @Promise("17.10")
  @Test
  void restartAllRestartsActorsInCreationOrder() {
    // on CALLER an actor that is told restarts at once
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

        quiet(scope);
        fail(scope, b);

        var restarted = log.stream().sorted().toList();
        assertEquals(policy.kind() == FailurePolicy.Kind.RESTART ? List.of("stop b", "stop c")
            : List.of("stop b", "stop c", "stop d"), restarted);
      }
    }
  }

  @Test
  void untrackedActorOfRootIsRestartedAlone() {
    var root = Variants.scope(o -> o.withFailurePolicy(FailurePolicy.restartFromFailed()));
    actor(root, "named");
    var anonymous = actor(root.anonymous(), "anonymous");

    fail(root, anonymous);

    Patience.eventually(() -> !log.isEmpty());
    quiet(root);
    assertEquals(List.of("stop anonymous"), log);
  }

  @Promise("17.11")
  @Test
  void siblingRestartsAfterItsMessageWithoutInterrupt() {
    try (var scope = scope(FailurePolicy.restartAll())) {
      var a = actor(scope, "a");
      var b = actor(scope, "b");
      var interrupted = new AtomicBoolean();
      var gate = new Gate();
      a.execute(() -> {
        gate.passDeaf();
        interrupted.set(Thread.interrupted());
        log.add("a returns");
      });
      Patience.await(gate.entered);
      a.sendMessage("next");
      b.sendMessage(new IOException("planned"));
      Patience.eventually(() -> log.contains("stop b"));

      gate.open();

      quiet(scope);
      assertEquals(List.of("stop b", "a returns", "stop a", "a2 next"), log);
      assertFalse(interrupted.get());
    }
  }

  @Promise("17.11")
  @Test
  void stashedMessagesOfSiblingPrecedeQueuedMessages() {
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

      quiet(scope);
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
    quiet(scope);
    b.sendMessage(new IOException("planned"));
    Patience.eventually(() -> Inside.isSuspended(a) && Inside.isSuspended(b));
    a.sendMessage("on");
    b.sendMessage("on");

    clock.advance(Duration.ofSeconds(1));

    quiet(scope);
    assertEquals(List.of("a2 on", "b2 on"), log.subList(2, 4).stream().sorted().toList());
    scope.close();
  }

  @Promise("17.10")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#all")
  void restartAllReachesAnyActor(Variants.Variant variant) {
    try (var scope = scope(FailurePolicy.restartAll())) {
      var a = actor(variant.builder(scope), "a");
      var b = actor(variant.builder(scope), "b");
      quiet(scope);

      fail(scope, b);
      a.sendMessage("on");
      quiet(scope);

      assertEquals(List.of("a2 on", "stop a", "stop b"), log.stream().sorted().toList());
    }
  }
}
