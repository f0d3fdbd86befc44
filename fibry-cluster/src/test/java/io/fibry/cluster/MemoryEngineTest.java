package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MemoryEngineTest extends EngineContract {
  private static final List<Integer> NUMBERS = IntStream.range(0, 40).boxed().toList();

  private MemoryNetwork network; // made by the first use, which is in the constructor of the contract

  @Override
  ClusterTransport engine() {
    if (network == null) network = MemoryNetwork.create();
    return network.openTransport();
  }

  @Test
  void entryExpiresWithItsLease() {
    var clock = new ManualScheduler();
    var engine = MemoryNetwork.create(clock).openTransport();
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

  @Test
  void pendingRequestsFailInSendOrderOnClose() {
    var engine = MemoryNetwork.create().openTransport();
    engine.subscribe("silent", Optional.empty(), request -> {});
    var ended = new ArrayList<Integer>();
    for (var number : NUMBERS)
      engine.request(WireMessage.to("silent", Map.of(), new byte[0]), Duration.ofMinutes(1))
          .whenComplete((answer, failure) -> ended.add(number));

    engine.close();

    assertEquals(NUMBERS, ended);
  }

  @Test
  void oldestWorkOfClosedNodeIsRedeliveredFirst() throws InterruptedException {
    var network = MemoryNetwork.create();
    var ending = network.openTransport();
    var other = network.openTransport();
    var taken = new LinkedBlockingQueue<Long>();
    ending.queue("work").take(NUMBERS.size(), piece -> {});
    for (var number : NUMBERS) other.queue("work").put("" + number, new byte[0]);
    other.queue("work").take(1, piece -> taken.add(piece.number()));

    ending.close();

    assertEquals(other.queue("work").list(0, 1).getFirst().number(), taken.take());
    other.close();
  }
}
