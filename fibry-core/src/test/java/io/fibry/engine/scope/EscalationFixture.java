package io.fibry.engine.scope;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;

/** Base class of tests with actors that escalate failures and write to one log. */
abstract class EscalationFixture {
  final List<Object> log = new CopyOnWriteArrayList<>();
  final ManualScheduler clock = new ManualScheduler();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    clock.advance(Duration.ofDays(1));
  }

  static ActorScope scope(FailurePolicy policy) {
    return ActorSystem.openScope("supervised", o -> o.withFailurePolicy(policy));
  }

  /**
   * Returns an actor that escalates its failures. It logs the end of each state, and each
   * ordinary message with the number of its state in front.
   */
  Actor<Object> actor(ActorScope scope, String name) {
    return actor(scope.named(name), name);
  }

  Actor<Object> actor(ActorBuilder<Object> builder, String name) {
    var states = new AtomicInteger();
    var actor = builder.onFailure(FailurePolicy.escalate().withoutLog()).initialState(states::incrementAndGet)
        .onStop(state -> log.add("stop " + name)).newActor((Integer state, Object m) -> {
          if (m instanceof Gate gate) gate.pass();
          else if (m instanceof Exception failure) throw failure;
          else if (!m.equals("hello")) log.add(name + state + " " + m);
        });
    actor.sendMessage("hello"); // creates the state
    return actor;
  }

  static void awaitQuiescence(ActorScope scope) {
    assertTrue(scope.awaitQuiescence(Patience.LONG));
  }

  static void fail(ActorScope scope, Actor<Object> actor) {
    awaitQuiescence(scope);
    actor.sendMessage(new IOException("planned"));
    awaitQuiescence(scope);
  }
}
