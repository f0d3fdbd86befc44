package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Seeds;
import io.fibry.Strategy;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Simulates pools of every kind, and entities. */
@Tag("simulated")
class PoolSimulationTest {

  @Test
  void poolsRespectLimitsAndGiveEachMessageOneOutcome() {
    Seeds.play("pools", 1_500, PoolRounds::pools);
  }

  @Test
  void perMessagePoolGivesEachMessageOneOutcome() {
    Seeds.play("pools per message", 500, PoolRounds::perMessage);
  }

  @Test
  void keyHasOneIncarnationAtATimeAndHandlesMessagesOnceInOrder() {
    Seeds.play("entities", 1_000, PoolRounds::entities);
  }

  @Test
  void idleWorkersEndDespiteFailedThreadStarts() {
    Seeds.play("idle workers", 300, simulation -> {
      var workers = new AtomicInteger();
      var pool = Pools.scaling(simulation.scope().anonymous(), 1, 4).initialState(workers::incrementAndGet)
          .onStop(state -> workers.decrementAndGet()).newActor((Integer state, Integer millis) -> Thread.sleep(millis));
      simulation.faults().withAllKinds().withFailedThreadStarts(0.3);
      for (int i = 0; i < 20; i++) pool.sendMessage(10);
      Thread.sleep(Duration.ofHours(1));
      assertEquals(1, workers.get());
    });
  }

  @Test
  void poolEndsDespiteFailedThreadStarts() {
    Seeds.play("pool without threads", 300, simulation -> {
      var pool = Pools.perMessage(simulation.scope().anonymous().strategy(Strategy.RESIDENT_FIBER))
          .newActor((Integer millis) -> Thread.sleep(millis));
      simulation.faults().withAllKinds().withFailedThreadStarts(0.5);
      for (int i = 0; i < 10; i++) pool.sendMessage(1);
      pool.kill();
      assertTrue(simulation.scope().awaitQuiescence(Duration.ofHours(1)));
    });
  }
}
