package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Seeds;
import io.fibry.simulation.Simulation;
import io.fibry.testing.Variants;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** The rounds of pools and entities, as programs for a simulation. */
public final class PoolRounds {
  private PoolRounds() {}

  public static void pools(Simulation simulation) throws Exception {
    var round = new PoolStressRound(simulation.random().split(), Variants.SIMULATED);
    Seeds.disturb(simulation);
    round.play();
  }

  public static void perMessage(Simulation simulation) throws Exception {
    var round = PoolStressRound.perMessage(simulation.random().split());
    Seeds.disturb(simulation);
    round.play();
  }

  /** No message that is sent during a kill begins after the end of the pool. */
  public static void killDuringSend(Simulation simulation) throws Exception {
    var hasEnded = new AtomicBoolean();
    var lateHandlers = new AtomicInteger();
    var pool = Pools.perMessage(simulation.scope().anonymous()).newActor((Integer message) -> {
      if (hasEnded.get()) lateHandlers.incrementAndGet();
    });
    Seeds.disturb(simulation);
    var sender = Thread.ofVirtual().start(() -> {
      for (int i = 0; i < 3; i++) pool.sendMessage(i);
    });

    pool.kill();
    pool.waitForExit();
    hasEnded.set(true);
    sender.join();

    assertTrue(simulation.scope().awaitQuiescence(Duration.ofHours(1)));
    assertEquals(0, lateHandlers.get());
  }

  public static void entities(Simulation simulation) throws Exception {
    var round = new EntitiesRound(simulation.random().split());
    Seeds.disturb(simulation);
    round.play();
  }
}
