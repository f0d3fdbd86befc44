package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.time.ManualClock;
import java.time.Duration;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class MemoryEngineTest extends EngineContract {
  private MemoryNetwork network; // made by the first use, which is in the constructor of the contract

  @Override
  Engine engine() {
    if (network == null) network = MemoryNetwork.create();
    return network.engine();
  }

  @Test
  void anEntryGoesWithItsLease() {
    var clock = new ManualClock();
    var engine = MemoryNetwork.create(clock).engine();
    long version = engine.create("k", new byte[1], Duration.ofSeconds(5)).orElseThrow();
    clock.advance(Duration.ofSeconds(4));
    version = engine.update("k", new byte[2], version, Duration.ofSeconds(5)).orElseThrow();
    clock.advance(Duration.ofSeconds(4));

    assertEquals(version, engine.get("k").orElseThrow().version());
    clock.advance(Duration.ofSeconds(1));
    assertTrue(engine.get("k").isEmpty());
    assertEquals(OptionalLong.empty(), engine.update("k", new byte[3], version, Duration.ofSeconds(5)));
    engine.close();
  }
}
