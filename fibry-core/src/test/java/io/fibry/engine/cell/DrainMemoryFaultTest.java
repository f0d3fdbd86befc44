package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.engine.actor.DefaultActorBuilder;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests drains for which the engine gets an OutOfMemoryError outside of a handler. */
class DrainMemoryFaultTest {
  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  static Stream<Strategy> residentStrategies() {
    return Stream.of(Strategy.THREAD, Strategy.RESIDENT_FIBER);
  }

  /** A resident actor has only this thread. If the thread ended, no thread would run the actor. */
  @ParameterizedTest
  @MethodSource("residentStrategies")
  void residentThreadSurvivesOutOfMemoryError(Strategy strategy) {
    var gate = new Gate();
    var scope = new FullHeapScope();
    var actor = DefaultActorBuilder.of(scope).strategy(strategy).onFailure(FailurePolicy.escalate())
        .newActorWithReturn((Integer i) -> {
          gate.passUninterruptibly();
          return 10 / i;
        });
    actor.sendMessage(1);
    actor.sendMessage(0); // fails, and the scope cannot decide; then the first message cannot be counted

    gate.open();

    assertEquals(5, Patience.value(actor.sendMessageReturn(2)));
    actor.close();
  }

  /** The drain has taken the pill, and cannot count the message before it. */
  @Test
  void stopHookRunsDespiteOutOfMemoryErrorAtPoisonPill() {
    var gate = new Gate();
    var scope = new FullHeapScope();
    var stopped = new CountDownLatch(1);
    var actor = DefaultActorBuilder.of(scope).initialState(() -> "state").onStop(state -> stopped.countDown())
        .newActor((String state, Object message) -> {
          gate.passUninterruptibly();
          scope.accountFaults.set(1);
        });
    actor.sendMessage("counted late");
    actor.sendPoisonPill();

    gate.open();

    Patience.await(stopped);
    Patience.awaitEnd(actor::waitForExit);
  }
}
