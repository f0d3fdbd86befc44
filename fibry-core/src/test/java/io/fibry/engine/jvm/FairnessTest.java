package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.Exitable;
import io.fibry.Strategy;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that busy actors do not starve others, although the JVM does not preempt virtual threads,
 * and a yield lets only some other virtual threads run.
 */
class FairnessTest {

  @Promise({"6.2", "6.3"})
  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void idleActorAnswersWhileBusyActorsNeverPause(int actorsPerCarrier) {
    var busyActors = new ArrayList<Actor<String>>();
    for (int i = 0; i < actorsPerCarrier * Runtime.getRuntime().availableProcessors(); i++)
      busyActors.add(startBusyActor(Strategy.FIBER));
    var idleActor = ActorSystem.anonymous().newActorWithReturn((Integer n) -> n * n);

    var answers = List.of(idleActor.ask(2, Patience.LONG), idleActor.ask(3, Patience.LONG));

    busyActors.forEach(Exitable::askExit);
    assertEquals(List.of(4, 9), answers);
  }

  @Promise("6.3")
  @Test
  void idleActorAnswersWhileResidentFibersNeverPause() {
    var busyActors = new ArrayList<Actor<String>>();
    for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors(); i++)
      busyActors.add(startBusyActor(Strategy.RESIDENT_FIBER));
    var idleActor = ActorSystem.anonymous().newActorWithReturn((Integer n) -> n * n);

    int answer = idleActor.ask(2, Patience.LONG);

    busyActors.forEach(Exitable::askExit);
    assertEquals(4, answer);
  }

  private static Actor<String> startBusyActor(Strategy strategy) {
    var actor = ActorSystem.anonymous().strategy(strategy)
        .newActor((String m, ActorContext<String> context) -> context.self().sendMessage(m));
    actor.sendMessage("again");
    return actor;
  }
}
