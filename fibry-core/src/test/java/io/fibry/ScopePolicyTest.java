package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.mailbox.Mailbox;
import io.fibry.time.ManualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a scope does about a failure that one of its actors escalates. */
@Timeout(60)
class ScopePolicyTest {
  private final List<Object> log = new CopyOnWriteArrayList<>();
  private final ManualClock clock = new ManualClock();

  @AfterEach
  void letGo() {
    Gate.openAll();
    clock.advance(Duration.ofDays(1));
  }

  private static ActorScope scope(FailurePolicy policy) {
    return ActorSystem.openScope("supervised", o -> o.withFailurePolicy(policy));
  }

  /** Escalates. Logs when its state is left, and each message with the number of its state. */
  private Actor<Object> actor(ActorScope where, String name) {
    return actor(where.named(name), name);
  }

  private Actor<Object> actor(ActorBuilder<Object> how, String name) {
    var states = new AtomicInteger();
    var actor = how.onFailure(FailurePolicy.escalate().withoutLog()).initialState(states::incrementAndGet).onStop(state -> log.add("stop " + name)).newActor((Integer state, Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      else if (m instanceof Exception failure) throw failure;
      else if (!m.equals("hello")) log.add(name + state + " " + m);
    });
    actor.sendMessage("hello"); // makes the state
    return actor;
  }

  private static void quiet(ActorScope scope) {
    assertTrue(scope.awaitQuiet(Patience.LONG));
  }

  private static void fail(ActorScope scope, Actor<Object> actor) {
    quiet(scope);
    actor.sendMessage(new IOException("planned"));
    quiet(scope);
  }

  @Test
  void restartRestartsTheOneThatFailed() {
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

  @Test
  void restartAllRestartsAllAlsoTheIdleOnes() {
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

  @Test
  void allAreToldInTheOrderTheyWereMade() {
    var caller = ActorSystem.openScope("supervised", o -> o.withFailurePolicy(FailurePolicy.restartAll()).withStrategy(Strategy.CALLER)); // told is restarted
    try (caller) {
      var first = actor(caller, "first");
      actor(caller, "a");
      actor(caller.openScope("inner"), "b");
      actor(caller, "c");

      first.sendMessage(new IOException("planned"));

      assertEquals(List.of("stop a", "stop b", "stop c", "stop first"), log);
    }
  }

  @Test
  void restartRestRestartsTheFailedOneAndThoseMadeAfterIt() {
    try (var scope = scope(FailurePolicy.restartRest())) {
      actor(scope, "a");
      var b = actor(scope, "b");
      actor(scope, "c");

      fail(scope, b);

      assertEquals(List.of("stop b", "stop c"), log.stream().sorted().toList());
    }
  }

  @Test
  void aScopeBelowIsOneMember() {
    for (var policy : List.of(FailurePolicy.restart(), FailurePolicy.restartRest())) {
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
        assertEquals(policy.kind == FailurePolicy.Kind.RESTART ? List.of("stop b", "stop c") : List.of("stop b", "stop c", "stop d"), restarted);
      }
    }
  }

  @Test
  void anActorOfTheRootThatIsNotTrackedIsRestartedAlone() {
    var root = Variants.scope(o -> o.withFailurePolicy(FailurePolicy.restartRest()));
    actor(root, "named");
    var anonymous = actor(root.anonymous(), "anonymous");

    fail(root, anonymous);

    Patience.eventually(() -> !log.isEmpty());
    quiet(root);
    assertEquals(List.of("stop anonymous"), log);
  }

  @Test
  void aSiblingRestartsAfterItsMessageAndIsNotInterrupted() {
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

  @Test
  void whatASiblingPutAsideComesBackBeforeWhatWaits() {
    try (var scope = scope(FailurePolicy.restartAll())) {
      var states = new AtomicInteger();
      var a = scope.anonymous().mailbox(Mailbox.unbounded().selective()).initialState(states::incrementAndGet).newActor((Integer state, Object m, ActorContext<Object> context) -> {
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

  @Test
  void stopClosesTheScope() {
    var scope = scope(FailurePolicy.stop());
    var a = actor(scope, "a");

    actor(scope, "b").sendMessage(new IOException("planned"));

    assertEquals(new ExitReason.Stopped(), Patience.value(a.onExit()));
    scope.close();
  }

  @Test
  void whoMadeTheScopeCloseHasFailedAndWasNotStopped() {
    for (int round = 0; round < 500; round++) {
      var b = actor(scope(FailurePolicy.stop()), "b");
      var planned = new IOException("planned");

      b.sendMessage(planned);

      assertEquals(new ExitReason.Failed(planned), Patience.value(b.onExit()), "in round " + round);
    }
  }

  @Test
  void aScopeWithoutAPolicyCloses() {
    var scope = ActorSystem.openScope("plain");
    var a = actor(scope, "a");

    actor(scope, "b").sendMessage(new IOException("planned"));

    Patience.ended(a);
  }

  @Test
  void goOnGoesOnWithTheState() {
    try (var scope = scope(FailurePolicy.goOn())) {
      var a = actor(scope, "a");

      fail(scope, a);
      a.sendMessage("on");

      quiet(scope);
      assertEquals(List.of("a1 on"), log);
    }
  }

  @Test
  void escalateAsksTheScopeAround() {
    try (var scope = scope(FailurePolicy.restartAll())) {
      actor(scope, "a");
      var middle = scope.openScope("middle", o -> o.withFailurePolicy(FailurePolicy.escalate()));
      var inner = middle.openScope("inner");

      fail(scope, actor(inner, "b"));

      assertEquals(List.of("stop a", "stop b"), log.stream().sorted().toList());
    }
  }

  @Test
  void overItsBudgetAScopeAsksTheOneAround() {
    try (var scope = scope(FailurePolicy.restartAll())) {
      actor(scope, "a");
      var inner = scope.openScope("inner", o -> o.withFailurePolicy(FailurePolicy.restart().withBudget(2, Duration.ofDays(1))));
      var b = actor(inner, "b");
      var c = actor(inner, "c");
      fail(scope, b);
      fail(scope, c);
      boolean local = !log.contains("stop a");

      fail(scope, b); // two actors, one budget

      assertTrue(log.contains("stop a"), log::toString);
      assertTrue(local);
    }
  }

  @Test
  void aScopesChoiceIsByWhatWasThrown() {
    try (var scope = scope(FailurePolicy.by(failure -> failure instanceof IOException ? FailurePolicy.restartAll() : FailurePolicy.goOn()))) {
      var a = actor(scope, "a");
      actor(scope, "b");
      a.sendMessage(new IllegalStateException("planned"));
      quiet(scope);
      boolean went = log.isEmpty();

      fail(scope, a);

      assertEquals(2, log.size());
      assertTrue(went);
    }
  }

  @Test
  void aBackOffOfTheScopeHoldsForAllWhomItRestarts() {
    var scope = ActorSystem.openScope("supervised", o -> o.withScheduler(clock).withFailurePolicy(FailurePolicy.restartAll().withBackOff(Duration.ofSeconds(1), Duration.ofSeconds(1))));
    var a = actor(scope, "a");
    var b = actor(scope, "b");
    quiet(scope);
    b.sendMessage(new IOException("planned"));
    Patience.eventually(() -> rests(a) && rests(b));
    a.sendMessage("on");
    b.sendMessage("on");

    clock.advance(Duration.ofSeconds(1));

    quiet(scope);
    assertEquals(List.of("a2 on", "b2 on"), log.subList(2, 4).stream().sorted().toList());
    scope.close();
  }

  private static boolean rests(Exitable actor) {
    return ((ActorCell) actor).rich().resting() != null;
  }

  @Test
  void theRootStopsTheActorAndLogs() {
    try (var logged = new Logged()) {
      var actor = ActorSystem.named("alone").onFailure(FailurePolicy.escalate()).newActor((Object m) -> {
        throw new IOException("planned");
      });

      actor.sendMessage("fail");

      assertTrue(Patience.value(actor.onExit()) instanceof ExitReason.Failed);
      assertTrue(logged.text().contains("actor 'alone' failed at") && logged.text().contains("its scope 'root' decides: it stops"), logged.text());
    }
  }

  @Test
  void theRootClosesAScopeThatEscalates() {
    var scope = scope(FailurePolicy.escalate());
    var a = actor(scope, "a");

    actor(scope, "b").sendMessage(new IOException("planned"));

    Patience.ended(a);
    Patience.eventually(() -> !Scope.ROOT.members().contains(scope));
  }

  @Test
  void aScopeBelowBeginsWithTheOptionsOfTheOneAround() {
    try (var scope = scope(FailurePolicy.restartAll())) {
      var inner = scope.openScope("inner");
      actor(inner, "a");

      fail(scope, actor(inner, "b"));

      assertEquals(List.of("stop a", "stop b"), log.stream().sorted().toList());
    }
  }

  @Test
  void aFailureWhileTheScopeClosesHoldsNobodyUp() {
    for (var policy : List.of(FailurePolicy.stop(), FailurePolicy.restartAll(), FailurePolicy.restart().withBudget(0, Duration.ofDays(1)), FailurePolicy.escalate())) {
      var scope = scope(policy);
      var a = actor(scope, "a");
      var b = actor(scope, "b");
      var gate = Gate.occupy(b);
      b.sendMessage(new IOException("planned"));
      b.sendMessage("after");
      var closed = new CompletableFuture<ActorScope.Report>();
      var closer = Patience.elsewhere(() -> closed.complete(scope.closeWithin(Duration.ofDays(1))));
      Patience.parked(closer);

      gate.open();

      Patience.value(closed);
      assertTrue(a.onExit().isDone() && b.onExit().isDone());
    }
  }

  @ParameterizedTest
  @MethodSource("io.fibry.Variants#all")
  void restartAllReachesAnyActor(Variants.Variant variant) {
    try (var scope = scope(FailurePolicy.restartAll())) {
      var a = actor(variant.builder((Scope) scope), "a");
      var b = actor(variant.builder((Scope) scope), "b");
      quiet(scope);

      fail(scope, b);
      a.sendMessage("on");
      quiet(scope);

      assertEquals(List.of("a2 on", "stop a", "stop b"), log.stream().sorted().toList());
    }
  }
}
