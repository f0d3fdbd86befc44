package io.fibry.engine.scope;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * Tests scopes that react to an escalated failure without a restart: the scope closes, continues,
 * or escalates to its parent.
 */
class ScopeEscalationTest extends EscalationFixture {
  @Promise("17.12")
  @Test
  void scopeWithStopPolicyClosesOnEscalatedFailure() {
    var scope = scope(FailurePolicy.stop());
    var a = actor(scope, "a");

    actor(scope, "b").sendMessage(new IOException("planned"));

    assertEquals(new ExitReason.Stopped(), Patience.value(a.onExit()));
    scope.close();
  }

  @Promise("17.12")
  @Test
  void actorEndsAsFailedWhenItsFailureClosesScope() {
    for (int round = 0; round < 500; round++) {
      var b = actor(scope(FailurePolicy.stop()), "b");
      var failure = new IOException("planned");

      b.sendMessage(failure);

      assertEquals(new ExitReason.Failed(failure), Patience.value(b.onExit()), "in round " + round);
    }
  }

  @Promise("17.12")
  @Test
  void scopeWithoutPolicyClosesOnEscalatedFailure() {
    var scope = ActorSystem.openScope("plain");
    var a = actor(scope, "a");

    actor(scope, "b").sendMessage(new IOException("planned"));

    Patience.awaitEnd(a::waitForExit);
  }

  @Test
  void resumePolicyOfScopeKeepsStateOfFailedActor() {
    try (var scope = scope(FailurePolicy.resume())) {
      var a = actor(scope, "a");

      fail(scope, a);
      a.sendMessage("on");

      awaitQuiescence(scope);
      assertEquals(List.of("a1 on"), log);
    }
  }

  @Promise("17.13")
  @Test
  void escalatePolicyDefersToParentScope() {
    try (var scope = scope(FailurePolicy.restartAll())) {
      actor(scope, "a");
      var middle = scope.openScope("middle", o -> o.withFailurePolicy(FailurePolicy.escalate()));
      var inner = middle.openScope("inner");

      fail(scope, actor(inner, "b"));

      assertEquals(List.of("stop a", "stop b"), log.stream().sorted().toList());
    }
  }

  @Promise("17.13")
  @Test
  void scopeBeyondRestartBudgetEscalatesToParent() {
    try (var scope = scope(FailurePolicy.restartAll())) {
      actor(scope, "a");
      var inner =
          scope.openScope("inner", o -> o.withFailurePolicy(FailurePolicy.restart().withBudget(2, Duration.ofDays(1))));
      var b = actor(inner, "b");
      var c = actor(inner, "c");
      fail(scope, b);
      fail(scope, c);
      boolean innerOnly = !log.contains("stop a");

      fail(scope, b); // two actors share one budget

      assertTrue(log.contains("stop a"), log::toString);
      assertTrue(innerOnly);
    }
  }

  @Test
  void scopeChoosesPolicyByFailure() {
    try (var scope = scope(FailurePolicy
        .choose(failure -> failure instanceof IOException ? FailurePolicy.restartAll() : FailurePolicy.resume()))) {
      var a = actor(scope, "a");
      actor(scope, "b");
      a.sendMessage(new IllegalStateException("planned"));
      awaitQuiescence(scope);
      boolean resumed = log.isEmpty();

      fail(scope, a);

      assertEquals(2, log.size());
      assertTrue(resumed);
    }
  }

  @Promise("17.13")
  @Test
  void rootScopeStopsEscalatingActorAndLogsDecision() {
    try (var logged = new Logged()) {
      var actor = ActorSystem.named("alone").onFailure(FailurePolicy.escalate()).newActor((Object m) -> {
        throw new IOException("planned");
      });

      actor.sendMessage("fail");

      assertTrue(Patience.value(actor.onExit()) instanceof ExitReason.Failed);
      assertTrue(logged.text().contains("actor 'alone' failed at")
          && logged.text().contains("its scope 'root' decides: it stops"), logged.text());
    }
  }

  @Promise("17.13")
  @Test
  void rootScopeClosesEscalatingScope() {
    var scope = scope(FailurePolicy.escalate());
    var a = actor(scope, "a");

    actor(scope, "b").sendMessage(new IOException("planned"));

    Patience.awaitEnd(a::waitForExit);
    Patience.eventually(() -> !Scopes.isInRoot(scope));
  }

  @Test
  void childScopeInheritsFailurePolicy() {
    try (var scope = scope(FailurePolicy.restartAll())) {
      var inner = scope.openScope("inner");
      actor(inner, "a");

      fail(scope, actor(inner, "b"));

      assertEquals(List.of("stop a", "stop b"), log.stream().sorted().toList());
    }
  }

  @Promise("17.14")
  @Test
  void scopeCloseEndsAllActorsDespiteFailureDuringClose() {
    for (var policy : List.of(FailurePolicy.stop(), FailurePolicy.restartAll(),
        FailurePolicy.restart().withBudget(0, Duration.ofDays(1)), FailurePolicy.escalate())) {
      var scope = scope(policy);
      var a = actor(scope, "a");
      var b = actor(scope, "b");
      var gate = Gate.occupy(b);
      b.sendMessage(new IOException("planned"));
      b.sendMessage("after");
      var report = new CompletableFuture<ActorScope.Report>();
      var closer = Patience.startFiber(() -> scope.closeWithin(Duration.ofDays(1)), report);
      Patience.awaitParked(closer);

      gate.open();

      Patience.value(report);
      assertTrue(a.onExit().isDone() && b.onExit().isDone());
    }
  }
}
